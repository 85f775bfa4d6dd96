import { Button } from "@heroui/react";
import { X } from "lucide-react";
import { useState } from "react";
import { useFacets, useLabels, useNames, useReach, whoOf } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { isNarrowed, type MemorySearch, type Tab } from "../../lib/address";
import { useOnChange } from "../../lib/changed";
import { usePlace } from "../../lib/place";
import { Choice, type Option } from "../../parts/Choice";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { Field } from "../../parts/Field";
import { TagFilter } from "./TagFilter";

const ANY = "*any";
const CUSTOM = "*custom";
const DAY_MS = 86_400_000;
const SPANS = ["1", "7", "30", "365"] as const;

/** What narrows the list: time, category, attribute, tag, agent and status. */
export function Filters({
  tab,
  search,
  set,
}: {
  tab: Tab;
  search: MemorySearch;
  set: (changes: Partial<MemorySearch>) => void;
}) {
  const { t, language, named } = useTranslation();
  const place = usePlace();
  const [isDateOpen, setDateOpen] = useState(false);
  const who = whoOf(tab, search);
  const tags = useLabels(place, "tags", who);
  const categories = useLabels(place, "categories", who);
  const facets = useFacets().map((facet) => ({ id: facet.name, label: facet[language] }));
  const agents = useNames(place, "agents");
  const { isOperator } = useReach();
  const tagOptions = withChosen(tags.data?.items ?? [], search.tag ?? []);
  const categoryOptions = withChosen(
    categories.data?.items ?? [],
    search.category === undefined ? [] : [search.category],
  ).map((option) => ({ ...option, label: named("category", option.label) }));
  const isFiltered = search.q !== undefined || isNarrowed(search);
  return (
    <>
      <div
        className="-mx-4 flex items-center gap-2 overflow-x-auto px-4 py-0.5 [scrollbar-width:none] sm:mx-0 sm:flex-wrap sm:overflow-visible sm:px-0"
        role="group"
        aria-label={t("filter.label")}
      >
        <Filter
          label={t("filter.time")}
          value={spanOf(search)}
          options={[
            { id: ANY, label: t("filter.anyTime") },
            ...SPANS.map((days) => ({ id: days, label: t(`filter.days${days}`) })),
            { id: CUSTOM, label: t("filter.customTime") },
          ]}
          onChange={(id) => {
            if (id === CUSTOM) setDateOpen(true);
            else if (id === ANY) set({ since: undefined, until: undefined });
            else set({ since: daysAgo(Number(id)), until: undefined });
          }}
        />
        <Filter
          label={t("filter.category")}
          value={search.category ?? ANY}
          options={[{ id: ANY, label: t("filter.anyCategory") }, ...categoryOptions]}
          onChange={(id) => set({ category: id === ANY ? undefined : id })}
        />
        <Filter
          label={t("filter.facet")}
          value={search.facet ?? ANY}
          options={[{ id: ANY, label: t("filter.anyFacet") }, ...facets]}
          onChange={(id) => set({ facet: id === ANY ? undefined : id })}
        />
        <TagFilter
          options={tagOptions}
          chosen={search.tag ?? []}
          onChange={(tag) => set({ tag: tag.length === 0 ? undefined : tag })}
        />
        {tab !== "shared" && isOperator && (
          <Filter
            label={t("filter.agent")}
            value={search.agent ?? ANY}
            options={[
              { id: ANY, label: t("filter.anyAgent") },
              ...withChosen(
                (agents.data?.items ?? []).map(({ name, contents }) => ({
                  name,
                  records: contents.records,
                })),
                search.agent === undefined ? [] : [search.agent],
              ),
            ]}
            onChange={(id) => set({ agent: id === ANY ? undefined : id })}
          />
        )}
        <Filter
          label={t("filter.status")}
          value={search.status ?? ANY}
          options={[
            { id: ANY, label: t("status.active") },
            { id: "quarantined", label: t("status.quarantined") },
            { id: "superseded", label: t("status.superseded") },
            { id: "expired", label: t("status.expired") },
            { id: "deleted", label: t("status.deleted") },
          ]}
          onChange={(id) => set({ status: id === ANY ? undefined : id })}
        />
        {isFiltered && (
          <Button
            size="sm"
            variant="ghost"
            onPress={() =>
              set({
                q: undefined,
                tag: undefined,
                category: undefined,
                facet: undefined,
                since: undefined,
                until: undefined,
                agent: undefined,
                status: undefined,
              })
            }
          >
            <X aria-hidden />
            {t("filter.clear")}
          </Button>
        )}
      </div>
      <DateDialog
        isOpen={isDateOpen}
        onClose={() => setDateOpen(false)}
        search={search}
        onChoose={(since, until) => {
          setDateOpen(false);
          set({ since, until });
        }}
      />
    </>
  );
}

function Filter(props: {
  label: string;
  value: string;
  options: Option[];
  onChange: (id: string) => void;
}) {
  return (
    <Choice
      {...props}
      isLabelHidden
      className="w-auto min-w-28 shrink-0 [&_.select__trigger]:h-9"
    />
  );
}

function withChosen(known: { name: string; records?: number }[], chosen: string[]): Option[] {
  const missing = chosen.filter((name) => known.every((entry) => entry.name !== name));
  return [
    ...missing.map((name) => ({ id: name, label: name })),
    ...known.map((entry) => ({
      id: entry.name,
      label: entry.name,
      note: entry.records?.toString(),
    })),
  ];
}

function daysAgo(days: number): string {
  const start = new Date(Date.now() - days * DAY_MS);
  start.setMinutes(0, 0, 0);
  return start.toISOString();
}

/** Which of the offered spans an address means. */
function spanOf(search: MemorySearch): string {
  if (search.since === undefined && search.until === undefined) return ANY;
  if (search.since === undefined || search.until !== undefined) return CUSTOM;
  const days = (Date.now() - new Date(search.since).getTime()) / DAY_MS;
  return SPANS.find((span) => Math.abs(days - Number(span)) < 0.5) ?? CUSTOM;
}

function DateDialog({
  isOpen,
  onClose,
  search,
  onChoose,
}: {
  isOpen: boolean;
  onClose: () => void;
  search: MemorySearch;
  onChoose: (since: string | undefined, until: string | undefined) => void;
}) {
  const { t } = useTranslation();
  const [since, setSince] = useState("");
  const [until, setUntil] = useState("");
  useOnChange([isOpen, search.since, search.until], () => {
    setSince(search.since?.slice(0, 10) ?? "");
    setUntil(search.until?.slice(0, 10) ?? "");
  });
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("filter.customTime")}
      footer={
        <DialogButtons
          onCancel={onClose}
          onConfirm={() =>
            onChoose(
              since === "" ? undefined : new Date(`${since}T00:00:00`).toISOString(),
              until === "" ? undefined : new Date(`${until}T23:59:59`).toISOString(),
            )
          }
          label={t("filter.apply")}
        />
      }
    >
      <div className="grid gap-4 py-1 sm:grid-cols-2">
        <Field label={t("filter.since")} type="date" value={since} onChange={setSince} />
        <Field label={t("filter.until")} type="date" value={until} onChange={setUntil} />
      </div>
    </Dialog>
  );
}
