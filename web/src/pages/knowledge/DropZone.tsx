import { Button } from "@heroui/react";
import { CircleCheck, CircleX, FileUp, LoaderCircle, UploadCloud, X } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { Meter } from "../../parts/Meter";
import type { Upload } from "./uploads";

/** Where files are dropped or chosen. */
export function DropZone({
  lead,
  isLarge,
  onFiles,
}: {
  lead: string;
  isLarge: boolean;
  onFiles: (files: File[]) => void;
}) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  return (
    <div
      data-drop-zone
      className={`rounded-2xl border-2 border-dashed text-center transition-colors ${isLarge ? "px-6 py-12" : "px-5 py-5"} ${isOver ? "border-accent bg-accent-soft" : "border-line bg-canvas"}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        // A folder looks like a file, too.
        const files = [...event.dataTransfer.items]
          .filter((it) => it.kind === "file" && it.webkitGetAsEntry()?.isDirectory !== true)
          .map((it) => it.getAsFile())
          .filter((file) => file !== null);
        if (files.length > 0) onFiles(files);
      }}
    >
      <input
        ref={input}
        type="file"
        multiple
        className="sr-only"
        tabIndex={-1}
        aria-label={t("knowledge.choose")}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      <div
        className={
          isLarge
            ? "flex flex-col items-center gap-3"
            : "flex flex-wrap items-center justify-center gap-x-4 gap-y-3 sm:justify-between"
        }
      >
        <div className={`flex items-center gap-4 ${isLarge ? "flex-col" : "text-start"}`}>
          <span className="bg-accent-soft text-accent-soft-foreground grid size-11 shrink-0 place-items-center rounded-2xl">
            <UploadCloud className="size-5" strokeWidth={1.8} aria-hidden />
          </span>
          <div>
            <p className="font-medium max-sm:hidden">
              {t(isOver ? "knowledge.dropNow" : "knowledge.drop")}
            </p>
            <p className="font-medium sm:hidden">{t("knowledge.addFiles")}</p>
            <p className="caption mt-0.5 leading-5">{lead}</p>
          </div>
        </div>
        <Button variant={isLarge ? "primary" : "secondary"} onPress={() => input.current?.click()}>
          <FileUp aria-hidden />
          {t("knowledge.choose")}
        </Button>
      </div>
    </div>
  );
}

/** How far each file has come. */
export function UploadList({
  uploads,
  onStop,
  onClear,
  onOpen,
}: {
  uploads: Upload[];
  onStop: (id: number) => void;
  onClear: () => void;
  onOpen: (document: string) => void;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  if (uploads.length === 0) return null;
  const done = uploads.filter(
    (it) => it.stage === "ready" || it.stage === "failed" || it.stage === "stopped",
  );
  return (
    <section className="panel mt-3 overflow-hidden" aria-label={t("knowledge.uploads")}>
      <div className="border-line flex items-center justify-between gap-3 border-b px-4 py-2">
        <p className="caption number" aria-live="polite">
          {t("knowledge.uploadsDone", { done: done.length, count: uploads.length })}
        </p>
        <Button size="sm" variant="ghost" isDisabled={done.length === 0} onPress={onClear}>
          {t("knowledge.clearUploads")}
        </Button>
      </div>
      <ul className="divide-line max-h-80 divide-y overflow-y-auto">
        {uploads.map((it) => (
          <li key={it.id} className="flex items-center gap-3 px-4 py-2.5">
            <StageIcon stage={it.stage} />
            <div className="min-w-0 flex-1">
              <div className="flex items-baseline gap-3">
                {it.document === null ? (
                  <span className="said truncate font-medium">{it.name}</span>
                ) : (
                  <button
                    type="button"
                    className="ink-link said truncate"
                    onClick={() => onOpen(it.document ?? "")}
                  >
                    {it.name}
                  </button>
                )}
                <span className="caption number shrink-0">{format.bytes(it.bytes)}</span>
                <span className="flex-1" />
                <span className="caption number shrink-0">
                  {it.stage === "sending" ? format.percent(it.sent) : t(`upload.${it.stage}`)}
                </span>
              </div>
              {(it.stage === "sending" || it.stage === "reading") && (
                <div className="mt-1.5">
                  <Meter
                    value={it.stage === "reading" ? 1 : it.sent}
                    label={it.name}
                    tone={it.stage === "reading" ? "bg-accent animate-pulse" : "bg-accent"}
                    className="h-1"
                  />
                </div>
              )}
              {it.error !== "" && (
                <p className="said text-danger mt-1 text-xs leading-5">{it.error}</p>
              )}
            </div>
            {(it.stage === "waiting" || it.stage === "sending") && (
              <Button
                isIconOnly
                size="sm"
                variant="ghost"
                aria-label={t("knowledge.stop", { name: it.name })}
                onPress={() => onStop(it.id)}
              >
                <X aria-hidden />
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function StageIcon({ stage }: { stage: Upload["stage"] }) {
  const look = "size-5 shrink-0";
  if (stage === "ready") return <CircleCheck className={`${look} text-success`} aria-hidden />;
  if (stage === "failed") return <CircleX className={`${look} text-danger`} aria-hidden />;
  if (stage === "stopped") return <CircleX className={`${look} text-muted`} aria-hidden />;
  return (
    <LoaderCircle
      className={`${look} text-muted ${stage === "waiting" ? "" : "motion-safe:animate-spin"}`}
      aria-hidden
    />
  );
}
