import { toast } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { refreshEverything, removeFromLists, replaceInLists } from "../../api/cache";
import { answer, api, type Record, type Schemas } from "../../api/client";
import { isShared, ownerOf, type Owner } from "../../api/place";
import { useTranslation } from "../../i18n";
import { useTellTrouble } from "../../parts/feedback";

export type Changed = Schemas["ChangedRecord"];

/** Return the records of each owner, because one request is about one owner. */
export function byOwner(records: Record[]): [Owner, Record[]][] {
  const groups = Map.groupBy(records, (record) => JSON.stringify(ownerOf(record.scope)));
  return [...groups.values()].flatMap((group) =>
    group[0] === undefined ? [] : [[ownerOf(group[0].scope), group]],
  );
}

/** Bring back the version before the last. */
function undoLast(record: Record) {
  return answer(
    api.POST("/v1/records/{record_id}/undo", {
      params: { path: { record_id: record.id }, query: ownerOf(record.scope) },
    }),
  );
}

/** What can be done to records from any page. */
export function useRecordActions() {
  const queries = useQueryClient();
  const { t } = useTranslation();
  const tellTrouble = useTellTrouble();

  /** Change a record only if it is still at the version that was seen. */
  async function change(record: Record, body: Changed): Promise<Record> {
    const params = {
      path: { record_id: record.id },
      query: ownerOf(record.scope),
      header: { "if-match": `"${record.version}"` },
    };
    const changed = await (isShared(record)
      ? answer(api.PATCH("/v1/shared/{record_id}", { params, body }))
      : answer(api.PATCH("/v1/records/{record_id}", { params, body })));
    replaceInLists(queries, changed);
    void refreshEverything(queries);
    return changed;
  }

  async function undo(record: Record): Promise<void> {
    try {
      await undoLast(record);
      await refreshEverything(queries);
      toast.success(t("record.undone"));
    } catch (error) {
      tellTrouble(error);
    }
  }

  /** Delete records at once, and offer to bring them back. */
  async function remove(records: Record[], reason = ""): Promise<void> {
    try {
      for (const record of records.filter(isShared)) {
        await answer(
          api.DELETE("/v1/shared/{record_id}", {
            params: { path: { record_id: record.id }, query: { ...ownerOf(record.scope), reason } },
          }),
        );
      }
      const own = records.filter((record) => !isShared(record));
      for (const [owner, group] of byOwner(own)) {
        await answer(
          api.POST("/v1/records/bulk-delete", {
            params: { query: owner },
            body: { ids: group.map((record) => record.id), reason },
          }),
        );
      }
      removeFromLists(queries, new Set(records.map((record) => record.id)));
      void refreshEverything(queries);
      toast(t("record.deleted", { count: records.length }), {
        timeout: 10_000,
        ...(own.length > 0
          ? {
              actionProps: {
                children: t("action.undo"),
                variant: "tertiary",
                onPress: () => void bringBack(own),
              },
            }
          : {}),
      });
    } catch (error) {
      tellTrouble(error);
      void refreshEverything(queries);
    }
  }

  async function bringBack(records: Record[]): Promise<void> {
    try {
      for (const record of records) await undoLast(record);
      await refreshEverything(queries);
      toast.success(t("record.broughtBack", { count: records.length }));
    } catch (error) {
      tellTrouble(error);
    }
  }

  async function tag(records: Record[], add: string[], take: string[]): Promise<void> {
    try {
      for (const [owner, group] of byOwner(records)) {
        const done = await answer(
          api.POST("/v1/records/bulk-edit", {
            params: { query: owner },
            body: { ids: group.map((record) => record.id), add_tags: add, remove_tags: take },
          }),
        );
        for (const record of done.changed) replaceInLists(queries, record);
        for (const failure of done.failed) toast.danger(failure.message);
      }
      toast.success(t("bulk.tagged", { count: records.length }));
      void refreshEverything(queries);
    } catch (error) {
      tellTrouble(error);
    }
  }

  return { change, undo, remove, tag };
}
