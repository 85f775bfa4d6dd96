import { Button, Dropdown, Label, toast } from "@heroui/react";
import { Download, Ellipsis, UserRoundX } from "lucide-react";
import { memo, useState } from "react";
import type { Record } from "../../api/client";
import { findAll, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useCommand } from "../../lib/commands";
import { downloadRecords } from "../../lib/download";
import { usePlace } from "../../lib/place";
import { useAttempt } from "../../parts/feedback";
import { lazyPart } from "../../parts/lazyPart";
import { OnDemand } from "../../parts/OnDemand";
import type { MemorySearch, Tab } from "../../lib/address";

const ForgetDialog = lazyPart(async () => (await import("./ForgetDialog")).ForgetDialog);

const MOST_EXPORTED = 10_000;

/** What is done more rarely: export and forget. */
export const MoreMenu = memo(function MoreMenu({
  tab,
  search,
  found,
}: {
  tab: Tab;
  search: MemorySearch;
  /** What a search shows; without one the whole list is meant. */
  found?: Record[];
}) {
  const { t } = useTranslation();
  const place = usePlace();
  const reach = useReach();
  const { attempt } = useAttempt();
  const [isForgetting, setForgetting] = useState(false);

  const exportShown = async () => {
    const { records, isWhole } =
      found === undefined
        ? await findAll(place, tab, search, reach, MOST_EXPORTED)
        : { records: found, isWhole: true };
    downloadRecords("recollect-records.jsonl", records);
    toast.success(t(isWhole ? "export.done" : "export.first", { count: records.length }));
  };
  const exportPerson = (user: string) => {
    const address = new URLSearchParams({ ...place, user, agent: "-" });
    window.location.assign(`/v1/export?${address}`);
  };

  useCommand("export", () => void attempt(exportShown));
  useCommand("forget", () => setForgetting(true));
  return (
    <>
      <Dropdown>
        <Button variant="tertiary" aria-label={t("more.label")}>
          <Ellipsis aria-hidden />
          <span className="max-sm:hidden">{t("more.label")}</span>
        </Button>
        <Dropdown.Popover placement="bottom end" className="min-w-64">
          <Dropdown.Menu
            aria-label={t("more.label")}
            onAction={(key) => {
              if (key === "shown") void attempt(exportShown);
              else if (key === "person" && search.user !== undefined) exportPerson(search.user);
              else if (key === "forget") setForgetting(true);
            }}
          >
            <Dropdown.Item id="shown" textValue={t("export.shown")}>
              <Download className="text-muted size-4" aria-hidden />
              <Label>{t("export.shown")}</Label>
            </Dropdown.Item>
            {reach.isOperator && search.user !== undefined ? (
              <Dropdown.Item id="person" textValue={t("export.person", { name: search.user })}>
                <Download className="text-muted size-4" aria-hidden />
                <Label>{t("export.person", { name: search.user })}</Label>
              </Dropdown.Item>
            ) : null}
            {reach.isOperator ? (
              <Dropdown.Item id="forget" variant="danger" textValue={t("forget.menu")}>
                <UserRoundX className="text-danger size-4" aria-hidden />
                <Label>{t("forget.menu")}</Label>
              </Dropdown.Item>
            ) : null}
          </Dropdown.Menu>
        </Dropdown.Popover>
      </Dropdown>
      <OnDemand isWanted={isForgetting}>
        <ForgetDialog
          isOpen={isForgetting}
          user={search.user}
          onClose={() => setForgetting(false)}
        />
      </OnDemand>
    </>
  );
});
