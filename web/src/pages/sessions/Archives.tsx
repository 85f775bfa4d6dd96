import { Button, Skeleton } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Archive as ArchiveIcon } from "lucide-react";
import { useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import type { Owner } from "../../api/place";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { Loaded } from "../../parts/feedback";

export type Archive = Schemas["Archive"];

/** The results that were put away in a session. */
export function useArchives(owner: Owner, id: string) {
  return useQuery({
    queryKey: [keys.live, "archives", owner, id],
    queryFn: () =>
      answer(api.GET("/v1/archives", { params: { query: { ...owner, session: id, limit: 100 } } })),
  });
}

/** One result that was put away; its text is asked for when it is opened. */
export function ArchiveCard({ archive, owner }: { archive: Archive; owner: Owner }) {
  const { t } = useTranslation();
  const format = useFormat();
  const [isOpen, setOpen] = useState(false);
  const stored = useQuery({
    queryKey: ["archive", archive.id],
    enabled: isOpen,
    queryFn: () =>
      answer(
        api.GET("/v1/archives/{archive_id}/text", {
          params: { path: { archive_id: archive.id }, query: owner },
        }),
      ),
  });
  return (
    <li className="border-line bg-canvas rounded-2xl border border-dashed p-4">
      <div className="flex items-start gap-3">
        <ArchiveIcon className="text-muted mt-0.5 size-4 shrink-0" aria-hidden />
        <div className="min-w-0 flex-1">
          <p className="font-medium">{t("archive.title", { tool: archive.tool })}</p>
          <p className="caption number">
            {t("archive.size", { chars: archive.chars, lines: archive.lines })} ·{" "}
            {format.moment(archive.created_at)}
          </p>
          {archive.summary !== "" && (
            <p className="said text-muted mt-2 line-clamp-3 text-[13px]">{archive.summary}</p>
          )}
        </div>
        <Button
          size="sm"
          variant="tertiary"
          aria-expanded={isOpen}
          onPress={() => setOpen(!isOpen)}
        >
          {t(isOpen ? "archive.hide" : "archive.show")}
        </Button>
      </div>
      {isOpen && (
        <Loaded query={stored} waiting={<Skeleton className="mt-3 h-24 rounded-lg" />}>
          {({ text }) => (
            <pre
              tabIndex={0}
              className="focusable bg-surface border-line said mt-3 max-h-96 overflow-auto rounded-xl border p-3 font-mono text-xs whitespace-pre-wrap"
            >
              {text}
            </pre>
          )}
        </Loaded>
      )}
    </li>
  );
}
