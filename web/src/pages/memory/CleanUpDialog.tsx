import { Spinner, toast } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refreshEverything } from "../../api/cache";
import { answer, api, type Record, type Schemas } from "../../api/client";
import { faceOf, isShared, ownerOf, SHARED_AGENT } from "../../api/place";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import type { Place, Who } from "../../lib/address";
import { usePlace } from "../../lib/place";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { FaceBadge } from "../../parts/faces";
import { Loaded, useAttempt, useOfferUndo } from "../../parts/feedback";
import { QueueItem, useFirstInQueue } from "../../parts/Queue";
import { byOwner, useRecordActions } from "./actions";
import { nameOf, Origin } from "./RecordCard";

const BATCH = 200;
const MOST_NAMED = 50;

interface CleanUp {
  count: number;
  /** How many of them are gone for good, since they were hidden long ago. */
  purged: number;
  /** Those of them that are shown by name, to decide about each. */
  named: Record[];
  byCategory: Map<string, number>;
}

function add(total: CleanUp, category: string, count: number) {
  total.count += count;
  total.byCategory.set(category, (total.byCategory.get(category) ?? 0) + count);
}

async function listExpired(place: Place, who: Who): Promise<Record[]> {
  const found = await answer(
    api.GET("/v1/workspace/records", {
      params: { query: { ...place, ...who, status: ["expired"], limit: BATCH } },
    }),
  );
  return found.items.filter((record) => !isShared(record));
}

/** Hide what is past its time in every scope that is shown; a dry run only counts. */
async function sweep(place: Place, who: Who, isDryRun: boolean): Promise<CleanUp> {
  const scopes = await answer(
    api.GET("/v1/workspace/scopes", { params: { query: { ...place, ...who, limit: BATCH } } }),
  );
  const total: CleanUp = { count: 0, purged: 0, named: [], byCategory: new Map() };
  for (const { scope } of scopes.items.filter((entry) => entry.scope.agent !== SHARED_AGENT)) {
    const swept: Schemas["Swept"] = await answer(
      api.POST("/v1/upkeep/expire", {
        params: { query: ownerOf(scope) },
        body: { dry_run: isDryRun },
      }),
    );
    for (const [category, steps] of Object.entries(swept.by_category)) {
      add(total, category, (steps["expire"] ?? 0) + (steps["purge"] ?? 0));
      total.purged += steps["purge"] ?? 0;
    }
    if (isDryRun) {
      const ids = (swept.ids["expire"] ?? []).slice(0, MOST_NAMED - total.named.length);
      const query = ownerOf(scope);
      const asked = ids.map((record_id) =>
        answer(api.GET("/v1/records/{record_id}", { params: { path: { record_id }, query } })),
      );
      total.named.push(...(await Promise.all(asked)));
    }
  }
  return total;
}

/** Count what a clean-up would take: what is past its time, and what a sweep has hidden already. */
async function foresee(place: Place, who: Who): Promise<CleanUp> {
  const total = await sweep(place, who, true);
  const hidden = await listExpired(place, who);
  for (const record of hidden) add(total, record.category, 1);
  total.named.push(...hidden.slice(0, MOST_NAMED - total.named.length));
  return total;
}

/** Delete what is past its time; return it as it is then, and how many are gone for good. */
async function cleanUp(place: Place, who: Who): Promise<{ deleted: Record[]; purged: number }> {
  const deleted: Record[] = [];
  const { purged } = await sweep(place, who, false);
  for (let expired = await listExpired(place, who); expired.length > 0;) {
    for (const [owner, group] of byOwner(expired)) {
      const done = await answer(
        api.POST("/v1/records/bulk-delete", {
          params: { query: owner },
          body: { ids: group.map((record) => record.id), reason: "cleaned up" },
        }),
      );
      if (done.failed[0] !== undefined) throw new Error(done.failed[0].message);
      deleted.push(...done.changed);
    }
    expired = await listExpired(place, who);
  }
  return { deleted, purged };
}

/** Shows what a clean-up of expired records would do, and does it. */
export function CleanUpDialog({
  isOpen,
  who,
  onClose,
}: {
  isOpen: boolean;
  who: Who;
  onClose: () => void;
}) {
  const { t, named } = useTranslation();
  const place = usePlace();
  const queries = useQueryClient();
  const { attempt, isWorking } = useAttempt();
  const offerUndo = useOfferUndo();
  const { takeBack } = useRecordActions();
  const dryRun = useQuery({
    queryKey: ["clean-up", place, who],
    enabled: isOpen,
    staleTime: 0,
    queryFn: () => foresee(place, who),
  });
  const count = dryRun.data?.count ?? 0;
  const list = useFirstInQueue(isOpen && (dryRun.data?.named.length ?? 0) > 0);
  const confirm = async () => {
    const { deleted, purged } = await cleanUp(place, who);
    const done = t("cleanUp.done", { count: deleted.length + purged });
    if (deleted.length === 0) toast.success(done);
    else
      offerUndo(done, () => takeBack(deleted, t("record.broughtBack", { count: deleted.length })));
    await refreshEverything(queries);
    onClose();
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("cleanUp.title")}
      lead={t("cleanUp.lead")}
      width="max-w-2xl"
      footer={
        <DialogButtons
          onCancel={onClose}
          onConfirm={() => void attempt(confirm)}
          label={count === 0 ? t("cleanUp.button") : t("cleanUp.confirm", { count })}
          isDisabled={count === 0}
          isPending={isWorking}
        />
      }
    >
      <Loaded
        query={dryRun}
        waiting={
          <div className="grid place-items-center py-6">
            <Spinner aria-label={t("status.loading")} />
          </div>
        }
      >
        {({ byCategory, named: shown }) =>
          count === 0 ? (
            <p className="text-muted py-4">{t("cleanUp.nothing")}</p>
          ) : (
            <>
            <div className="bg-canvas rounded-xl p-4">
              <p className="font-medium">{t("cleanUp.would", { count })}</p>
              <p className="caption mt-2 mb-1">{t("cleanUp.byCategory")}</p>
              <ul className="space-y-1">
                {[...byCategory].map(([category, number]) => (
                  <li key={category} className="flex justify-between gap-4">
                    <span className="said text-muted">
                      {category === "" ? t("category.none") : named("category", category)}
                    </span>
                    <span className="number">{number}</span>
                  </li>
                ))}
              </ul>
            </div>
            <ul className="mt-3 space-y-3 p-1" ref={list} aria-label={t("cleanUp.each")}>
              {shown.map((record) => (
                <Expired
                  key={record.id}
                  record={record}
                  onDecided={() => void dryRun.refetch()}
                />
              ))}
            </ul>
            </>
          )
        }
      </Loaded>
    </Dialog>
  );
}

/** One record whose time is over: it is kept for good, or deleted. */
function Expired({ record, onDecided }: { record: Record; onDecided: () => void }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { change, undo, remove } = useRecordActions();
  const { attempt } = useAttempt();
  const keep = () =>
    record.status === "expired" ? undo(record) : attempt(() => change(record, { expires_at: null }));
  const [isDecided, setDecided] = useState(false);
  const decide = (deed: Promise<void>) => {
    setDecided(true);
    void deed.finally(onDecided);
  };
  return (
    <QueueItem
      label={nameOf(record)}
      decisions={[
        {
          label: t("cleanUp.keep"),
          look: "secondary",
          isDisabled: isDecided,
          onDecide: () => decide(keep()),
        },
        {
          label: t("action.delete"),
          look: "danger-soft",
          isDisabled: isDecided,
          onDecide: () => decide(remove([record])),
        },
      ]}
    >
      <div className="flex items-center gap-2">
        <FaceBadge face={faceOf(record)} />
        <span className="caption">
          {record.expires_at !== null &&
            t("cleanUp.since", { when: format.age(record.expires_at) })}
        </span>
      </div>
      <p className="said mt-1.5 text-[15px] leading-snug">{record.content}</p>
      <p className="caption mt-1">
        <Origin record={record} />
        {record.scope.user !== null && ` · ${record.scope.user}`}
      </p>
    </QueueItem>
  );
}
