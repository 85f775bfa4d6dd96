import { toast } from "@heroui/react";
import { useQueryClient, type InfiniteData, type QueryClient } from "@tanstack/react-query";
import { useTranslation } from "../i18n";
import { useTellTrouble } from "../parts/feedback";
import { answer, api, type Record, type Schemas } from "./client";
import { isShared, ownerOf } from "./place";
import { keys, type RecordsPage } from "./queries";

export type Changed = Schemas["ChangedRecord"];

/** Show a changed record in every list that has it, without asking for the lists again. */
export function replaceInLists(queries: QueryClient, record: Record) {
  queries.setQueriesData<InfiniteData<RecordsPage>>({ queryKey: keys.list }, (old) =>
    old === undefined
      ? old
      : {
          ...old,
          pages: old.pages.map((page) =>
            page.items.some((item) => item.id === record.id)
              ? { ...page, items: page.items.map((item) => (item.id === record.id ? record : item)) }
              : page,
          ),
        },
  );
}

/** Take records out of every list. */
export function removeFromLists(queries: QueryClient, ids: Set<string>) {
  queries.setQueriesData<InfiniteData<RecordsPage>>({ queryKey: keys.list }, (old) =>
    old === undefined
      ? old
      : {
          ...old,
          pages: old.pages.map((page) => {
            const items = page.items.filter((item) => !ids.has(item.id));
            const gone = page.items.length - items.length;
            return { ...page, items, total: page.total === null ? null : page.total - gone };
          }),
        },
  );
}

export function refreshEverything(queries: QueryClient) {
  return Promise.all([
    queries.invalidateQueries({ queryKey: [keys.live] }),
    queries.invalidateQueries({ queryKey: keys.newest }),
    queries.invalidateQueries({ queryKey: keys.list }),
  ]);
}

function byOwner(records: Record[]): Map<string, Record[]> {
  const groups = new Map<string, Record[]>();
  for (const record of records) {
    const key = JSON.stringify(ownerOf(record.scope));
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return groups;
}

/** What can be done to records from any page. */
export function useRecordActions() {
  const queries = useQueryClient();
  const { t } = useTranslation();
  const tellTrouble = useTellTrouble();

  /** Change a record only if it is still at the version that was seen. */
  async function change(record: Record, body: Changed): Promise<Record> {
    const seen = { "if-match": `"${record.version}"` };
    const changed = await (isShared(record)
      ? answer(
          api.PATCH("/v1/shared/{record_id}", {
            params: { path: { record_id: record.id }, query: ownerOf(record.scope), header: seen },
            body: body as never,
          }),
        )
      : answer(
          api.PATCH("/v1/records/{record_id}", {
            params: { path: { record_id: record.id }, query: ownerOf(record.scope), header: seen },
            body,
          }),
        ));
    replaceInLists(queries, changed);
    void refreshEverything(queries);
    return changed;
  }

  async function undo(record: Record): Promise<void> {
    try {
      await answer(
        api.POST("/v1/records/{record_id}/undo", {
          params: { path: { record_id: record.id }, query: ownerOf(record.scope) },
        }),
      );
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
      for (const group of byOwner(own).values()) {
        const scope = group[0]?.scope;
        if (scope === undefined) continue;
        await answer(
          api.POST("/v1/records/bulk-delete", {
            params: { query: ownerOf(scope) },
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
      for (const record of records) {
        await answer(
          api.POST("/v1/records/{record_id}/undo", {
            params: { path: { record_id: record.id }, query: ownerOf(record.scope) },
          }),
        );
      }
      await refreshEverything(queries);
      toast.success(t("record.broughtBack", { count: records.length }));
    } catch (error) {
      tellTrouble(error);
    }
  }

  async function tag(records: Record[], add: string[], take: string[]): Promise<void> {
    try {
      for (const group of byOwner(records).values()) {
        const scope = group[0]?.scope;
        if (scope === undefined) continue;
        const done = await answer(
          api.POST("/v1/records/bulk-edit", {
            params: { query: ownerOf(scope) },
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
