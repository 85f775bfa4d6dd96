import { Button, Skeleton, toast } from "@heroui/react";
import type { UseInfiniteQueryResult, UseQueryResult } from "@tanstack/react-query";
import { Check, Copy, RotateCw, TriangleAlert, type LucideIcon } from "lucide-react";
import { useState, type ReactNode } from "react";
import { ApiProblem, Unreachable } from "../api/client";
import { useTranslation, type Translation } from "../i18n";
import { problemOf } from "../i18n/server";
import { offer } from "../lib/undo";

/** Say in words what went wrong and what can be done about it. */
export function explain(error: unknown, t: Translation["t"]): { what: string; hint: string } {
  if (error instanceof ApiProblem) {
    const told = problemOf(error.code);
    // What the server says beside it has the names and numbers.
    return told === undefined
      ? { what: error.message, hint: error.hint }
      : { what: told, hint: error.message };
  }
  if (error instanceof Unreachable)
    return { what: t("error.unreachable"), hint: t("error.unreachableHint") };
  return {
    what: error instanceof Error ? error.message : String(error),
    hint: t("error.unexpectedHint"),
  };
}

/** An error where content should be, with a way out. */
export function Trouble({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useTranslation();
  const { what, hint } = explain(error, t);
  return (
    <div role="alert" className="panel flex gap-4 p-5">
      <TriangleAlert className="text-danger mt-0.5 size-5 shrink-0" aria-hidden />
      <div className="min-w-0 space-y-1">
        <p className="font-medium">{t("error.title")}</p>
        <p className="said text-muted">{what}</p>
        {hint !== "" && <p className="said text-muted">{hint}</p>}
        {retry !== undefined && (
          <Button size="sm" variant="secondary" className="mt-3" onPress={retry}>
            <RotateCw aria-hidden />
            {t("action.retry")}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Tell of a failed action in the corner of the page. */
export function useTellTrouble() {
  const { t } = useTranslation();
  return (error: unknown) => {
    const { what, hint } = explain(error, t);
    toast.danger(what, { description: hint, timeout: 12_000 });
  };
}

/** Return a function that says what was done and takes it back by one click, and only one. */
export function useOfferUndo() {
  const { t } = useTranslation();
  return (done: string, undo: () => Promise<void>) => {
    const { take, end } = offer(() => {
      toast.close(key);
      void undo();
    });
    const key = toast(done, {
      timeout: 10_000,
      onClose: end,
      actionProps: { children: t("action.undo"), variant: "tertiary", onPress: take },
    });
  };
}

/** Return a function that does something and tells of its failure, and whether it is doing it. */
export function useAttempt() {
  const tellTrouble = useTellTrouble();
  const [isWorking, setWorking] = useState(false);
  const attempt = async (deed: () => Promise<unknown>) => {
    setWorking(true);
    try {
      await deed();
    } catch (error) {
      tellTrouble(error);
    } finally {
      setWorking(false);
    }
  };
  return { attempt, isWorking };
}

/** What was asked for, once it is there; until then its skeleton, or what went wrong. */
export function Loaded<T>({
  query,
  waiting = <CardSkeletons count={3} />,
  children,
}: {
  query: UseQueryResult<T>;
  waiting?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  // What is there stays while it cannot be asked for again.
  if (query.data !== undefined) return children(query.data);
  return query.isError ? <Trouble error={query.error} retry={() => void query.refetch()} /> : waiting;
}

/** Asks for the next page of a list that has one. */
export function MoreButton({ list }: { list: UseInfiniteQueryResult }) {
  const { t } = useTranslation();
  if (!list.hasNextPage) return null;
  return (
    <div className="mt-4 text-center">
      <Button
        variant="tertiary"
        isPending={list.isFetchingNextPage}
        onPress={() => void list.fetchNextPage()}
      >
        {t("action.more")}
      </Button>
    </div>
  );
}

/** What a page without content says: why it is empty, and how to fill it. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  example,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  /** A command that fills the page; `$ORIGIN` in it is this server. */
  example?: string;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-4 py-14 text-center">
      <span className="bg-accent-soft text-accent-soft-foreground grid size-12 place-items-center rounded-2xl">
        <Icon className="size-6" strokeWidth={1.8} aria-hidden />
      </span>
      <h2 className="mt-4 text-base font-semibold">{title}</h2>
      {children !== undefined && (
        <div className="text-muted mt-1.5 max-w-md leading-relaxed">{children}</div>
      )}
      {example !== undefined && (
        <CodeExample text={example.replace("$ORIGIN", window.location.origin)} />
      )}
      {action !== undefined && (
        <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>
      )}
    </div>
  );
}

/** A command to copy. */
export function CodeExample({ text, width = "max-w-xl" }: { text: string; width?: string }) {
  const { t } = useTranslation();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    window.setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div
      className={`border-line bg-canvas mt-5 flex w-full ${width} items-start gap-2 rounded-xl border p-3 text-start`}
    >
      <pre
        className="focusable min-w-0 flex-1 overflow-x-auto rounded-md py-1 font-mono text-xs leading-relaxed"
        tabIndex={0}
      >
        {text}
      </pre>
      <Button
        isIconOnly
        size="sm"
        variant="ghost"
        aria-label={t(isCopied ? "action.copied" : "action.copy")}
        onPress={() => void copy()}
      >
        {isCopied ? <Check aria-hidden /> : <Copy aria-hidden />}
      </Button>
    </div>
  );
}

/** Grey cards in the place of those that are on their way. */
export function CardSkeletons({ count = 5 }: { count?: number }) {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t("status.loading")} className="space-y-3">
      {Array.from({ length: count }, (_, place) => (
        <div key={place} className="panel space-y-3 p-5">
          <div className="flex justify-between">
            <Skeleton className="h-5 w-24 rounded-full" />
            <Skeleton className="h-4 w-28 rounded-full" />
          </div>
          <Skeleton className="h-4 w-4/5 rounded-md" />
          <Skeleton className="h-3 w-2/5 rounded-md" />
        </div>
      ))}
    </div>
  );
}
