import { Button, Tooltip } from "@heroui/react";
import {
  FileCode,
  FileSpreadsheet,
  FileText,
  Globe,
  Presentation,
  RotateCw,
  SearchX,
  Trash2,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";
import { useDocuments, type Document } from "../../api/knowledge";
import type { Owner } from "../../api/place";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { EmptyState, Loaded } from "../../parts/feedback";

/** What can be done with a document; who may not write has only the first. */
export interface DocumentActions {
  onOpen: (document: Document) => void;
  onRetry?: (document: Document) => void;
  onDelete?: (document: Document) => void;
}

const ICONS: globalThis.Record<Document["type"], LucideIcon> = {
  markdown: FileText,
  text: FileText,
  html: Globe,
  code: FileCode,
  json: FileCode,
  csv: FileSpreadsheet,
  pdf: FileText,
  docx: FileText,
  pptx: Presentation,
  xlsx: FileSpreadsheet,
};

export function DocumentIcon({ type }: { type: Document["type"] }) {
  const Icon = ICONS[type];
  return (
    <span
      className="bg-episodic-soft text-episodic grid size-10 shrink-0 place-items-center rounded-xl"
      aria-hidden
    >
      <Icon className="size-5" strokeWidth={1.8} />
    </span>
  );
}

const TONES: globalThis.Record<Document["status"], string> = {
  ready: "bg-procedural-soft text-procedural",
  pending: "bg-default text-foreground",
  failed: "bg-danger-soft text-danger-soft-foreground",
  archived: "bg-warning-soft text-warning-soft-foreground",
};

export function DocumentStatus({ document }: { document: Document }) {
  const { t } = useTranslation();
  // An earlier version answers until the next one is read.
  const isBroken = document.error !== "" && document.status === "ready";
  const status = isBroken ? "failed" : document.status;
  return (
    <span
      className={`shrink-0 rounded-full px-2.5 py-0.5 text-xs font-medium ${TONES[status]} ${status === "pending" ? "motion-safe:animate-pulse" : ""}`}
    >
      {t(isBroken ? "document.updateFailed" : `document.${status}`)}
    </span>
  );
}

/** The documents of a collection, the last changed first. */
export function Documents({
  owner,
  collection,
  status,
  ...actions
}: {
  owner: Owner;
  collection: string | undefined;
  status: string | undefined;
} & DocumentActions) {
  const { t } = useTranslation();
  const list = useDocuments(owner, collection, status);
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const documents = pages.flatMap((page) => page.items);
        if (documents.length === 0) {
          return <EmptyState icon={SearchX} title={t("knowledge.noneMatch")} />;
        }
        return (
          <>
            <ul
              className="panel divide-line divide-y overflow-hidden"
              aria-label={t("knowledge.documents")}
            >
              {documents.map((document) => (
                <DocumentRow key={document.id} document={document} {...actions} />
              ))}
            </ul>
            {list.hasNextPage && (
              <Button
                variant="secondary"
                isPending={list.isFetchingNextPage}
                onPress={() => void list.fetchNextPage()}
              >
                {t("knowledge.more")}
              </Button>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function DocumentRow({
  document,
  onOpen,
  onRetry,
  onDelete,
}: { document: Document } & DocumentActions) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <li className="hover:bg-surface-secondary relative flex items-center gap-3.5 px-4 py-3.5 transition-colors">
      <DocumentIcon type={document.type} />
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2.5">
          <button
            type="button"
            className="focusable said min-w-0 cursor-pointer truncate rounded-sm text-start font-medium after:absolute after:inset-0"
            onClick={() => onOpen(document)}
          >
            {document.title}
          </button>
          <DocumentStatus document={document} />
        </div>
        <p className="caption said mt-0.5 line-clamp-2 leading-5">
          {document.source !== document.title && <>{document.source} · </>}
          {document.chunks > 0 && <>{t("knowledge.chunkCount", { count: document.chunks })} · </>}
          {format.bytes(document.bytes)} · {format.age(document.updated_at)}
          {document.tags.length > 0 && <> · {document.tags.join(", ")}</>}
        </p>
        {document.error !== "" && (
          <p className="said text-danger mt-1 line-clamp-2 text-xs leading-5">{document.error}</p>
        )}
      </div>
      <div className="relative z-10 flex shrink-0">
        {onRetry !== undefined && document.error !== "" && (
          <Act label={t("action.retry")} onPress={() => onRetry(document)}>
            <RotateCw aria-hidden />
          </Act>
        )}
        {onDelete !== undefined && (
          <Act label={t("action.delete")} onPress={() => onDelete(document)}>
            <Trash2 aria-hidden />
          </Act>
        )}
      </div>
    </li>
  );
}

function Act({
  label,
  onPress,
  children,
}: {
  label: string;
  onPress: () => void;
  children: ReactNode;
}) {
  return (
    <Tooltip>
      <Button
        isIconOnly
        size="sm"
        variant="ghost"
        className="text-muted hover:text-foreground"
        aria-label={label}
        onPress={onPress}
      >
        {children}
      </Button>
      <Tooltip.Content>{label}</Tooltip.Content>
    </Tooltip>
  );
}
