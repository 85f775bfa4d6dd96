import { toast } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { refreshEverything, removeFromLists, replaceInLists } from "../../api/cache";
import { answer, api, ApiProblem, type Record, type Schemas } from "../../api/client";
import { isShared, ownerOf, type Owner } from "../../api/place";
import { useTranslation } from "../../i18n";
import { useOfferUndo, useTellTrouble } from "../../parts/feedback";

export type Changed = Schemas["ChangedRecord"];

// The server takes no more at a time.
const MOST_AT_ONCE = 1_000;

/** Return the records as requests take them: of one owner, and not too many. */
export function byOwner(records: Record[]): [Owner, Record[]][] {
  const groups = Map.groupBy(records, (record) => JSON.stringify(ownerOf(record.scope)));
  const slices: [Owner, Record[]][] = [];
  for (const group of groups.values()) {
    for (let start = 0; start < group.length; start += MOST_AT_ONCE) {
      const slice = group.slice(start, start + MOST_AT_ONCE);
      if (slice[0] !== undefined) slices.push([ownerOf(slice[0].scope), slice]);
    }
  }
  return slices;
}

/** Bring back the version before this one; refused if the record has moved on from it. */
export function undoVersion(record: Record): Promise<Record> {
  const params = {
    path: { record_id: record.id },
    query: ownerOf(record.scope),
    header: { "if-match": `"${record.version}"` },
  };
  return isShared(record)
    ? answer(api.POST("/v1/shared/{record_id}/undo", { params }))
    : answer(api.POST("/v1/records/{record_id}/undo", { params }));
}

/** Delete records; return them as they are then. */
async function hide(records: Record[], reason: string): Promise<Record[]> {
  const deleted: Record[] = [];
  for (const record of records.filter(isShared)) {
    const query = { ...ownerOf(record.scope), reason };
    const params = { path: { record_id: record.id }, query };
    deleted.push(await answer(api.DELETE("/v1/shared/{record_id}", { params })));
  }
  for (const [owner, group] of byOwner(records.filter((record) => !isShared(record)))) {
    const done = await answer(
      api.POST("/v1/records/bulk-delete", {
        params: { query: owner },
        body: { ids: group.map((record) => record.id), reason },
      }),
    );
    deleted.push(...done.changed);
    if (done.failed[0] !== undefined) toast.danger(done.failed[0].message);
  }
  return deleted;
}

/** Return a record as it will look after a change. */
function foreseen(record: Record, body: Changed): Record {
  const known = Object.entries(body).filter(([name]) => name in record);
  return { ...record, ...(Object.fromEntries(known) as object) };
}

/** What can be done to records from any page. */
export function useRecordActions() {
  const queries = useQueryClient();
  const { t } = useTranslation();
  const tellTrouble = useTellTrouble();
  const offerUndo = useOfferUndo();

  /** Change a record only if it is still at the version that was seen. */
  async function change(record: Record, body: Changed): Promise<Record> {
    const params = {
      path: { record_id: record.id },
      query: ownerOf(record.scope),
      header: { "if-match": `"${record.version}"` },
    };
    // It is shown as it will be, and as it was if that is refused.
    replaceInLists(queries, foreseen(record, body));
    let changed: Record;
    try {
      changed = await (isShared(record)
        ? answer(api.PATCH("/v1/shared/{record_id}", { params, body }))
        : answer(api.PATCH("/v1/records/{record_id}", { params, body })));
    } catch (problem) {
      replaceInLists(queries, record);
      throw problem;
    }
    replaceInLists(queries, changed);
    void refreshEverything(queries);
    if (changed.version > record.version) offerUndo(t("editor.saved"), () => undo(changed));
    return changed;
  }

  /** Take back the last change of records, each only if it is as it was seen. */
  async function takeBack(records: Record[], done: string): Promise<void> {
    try {
      let moved: ApiProblem | undefined;
      for (const record of records) {
        try {
          replaceInLists(queries, await undoVersion(record));
        } catch (problem) {
          if (!(problem instanceof ApiProblem)) throw problem;
          moved = problem;
        }
      }
      await refreshEverything(queries);
      if (moved !== undefined) throw moved;
      toast.success(done);
    } catch (error) {
      tellTrouble(error);
    }
  }

  const undo = (record: Record) => takeBack([record], t("record.undone"));

  /** Hide records from the lists at once, delete them, and offer to bring them back. */
  async function remove(records: Record[], reason = ""): Promise<void> {
    removeFromLists(queries, new Set(records.map((record) => record.id)));
    try {
      const deleted = await hide(records, reason);
      const count = deleted.length;
      if (count > 0) {
        offerUndo(t("record.deleted", { count }), () =>
          takeBack(deleted, t("record.broughtBack", { count })),
        );
      }
    } catch (error) {
      tellTrouble(error);
    }
    void refreshEverything(queries);
  }

  async function tag(records: Record[], add: string[], take: string[]): Promise<void> {
    for (const record of records) {
      const tags = [...new Set([...record.tags, ...add])].filter((name) => !take.includes(name));
      replaceInLists(queries, { ...record, tags });
    }
    try {
      const changed: Record[] = [];
      for (const [owner, group] of byOwner(records)) {
        const done = await answer(
          api.POST("/v1/records/bulk-edit", {
            params: { query: owner },
            body: { ids: group.map((record) => record.id), add_tags: add, remove_tags: take },
          }),
        );
        for (const record of done.changed) replaceInLists(queries, record);
        for (const failure of done.failed) toast.danger(failure.message);
        changed.push(...done.changed);
      }
      const before = new Map(records.map((record) => [record.id, record.version]));
      const renewed = changed.filter((record) => before.get(record.id) !== record.version);
      const count = changed.length;
      offerUndo(t("bulk.tagged", { count }), () => takeBack(renewed, t("bulk.untagged")));
    } catch (error) {
      for (const record of records) replaceInLists(queries, record);
      tellTrouble(error);
    }
    void refreshEverything(queries);
  }

  return { change, undo, takeBack, remove, tag };
}
