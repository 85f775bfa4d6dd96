import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { upload } from "../../api/knowledge";
import type { Owner } from "../../api/place";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { explain } from "../../parts/feedback";

const AT_ONCE = 2;

export type Stage = "waiting" | "sending" | "reading" | "ready" | "failed" | "stopped";

export interface Upload {
  id: number;
  name: string;
  bytes: number;
  stage: Stage;
  sent: number;
  error: string;
  document: string | null;
}

interface Waiting {
  id: number;
  file: File;
  owner: Owner;
  collection: string;
}

/** Files on their way to the knowledge base, two at a time, and how far each has come. */
export function useUploads() {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<Upload[]>([]);
  const waiting = useRef<Waiting[]>([]);
  const running = useRef(new Map<number, AbortController>());
  const next = useRef(0);

  const change = useCallback(
    (id: number, changes: Partial<Upload>) =>
      setUploads((old) => old.map((it) => (it.id === id ? { ...it, ...changes } : it))),
    [],
  );

  const send = useCallback(
    async ({ id, file, owner, collection }: Waiting, signal: AbortSignal) => {
      change(id, { stage: "sending" });
      const source = file.webkitRelativePath === "" ? file.name : file.webkitRelativePath;
      try {
        const document = await upload(
          owner,
          collection,
          file,
          source,
          (sent) => change(id, { sent, stage: sent < 1 ? "sending" : "reading" }),
          signal,
        );
        const isRead = document.error === "";
        change(id, {
          stage: isRead ? "ready" : "failed",
          sent: 1,
          error: document.error,
          document: document.id,
        });
      } catch (error) {
        if (signal.aborted) {
          change(id, { stage: "stopped" });
          return;
        }
        const { what, hint } = explain(error, t);
        change(id, { stage: "failed", error: `${what} ${hint}`.trim() });
      }
      void queries.invalidateQueries({ queryKey: [keys.live] });
    },
    [change, queries, t],
  );

  /** Send one file after another until none waits. */
  const work = useCallback(async () => {
    while (running.current.size < AT_ONCE) {
      const one = waiting.current.shift();
      if (one === undefined) return;
      const stop = new AbortController();
      running.current.set(one.id, stop);
      await send(one, stop.signal);
      running.current.delete(one.id);
    }
  }, [send]);

  const add = useCallback(
    (files: File[], owner: Owner, collection: string) => {
      const added = files.map((file) => ({ id: next.current++, file, owner, collection }));
      waiting.current.push(...added);
      setUploads((old) => [
        ...added.map(({ id, file }) => ({
          id,
          name: file.name,
          bytes: file.size,
          stage: "waiting" as const,
          sent: 0,
          error: "",
          document: null,
        })),
        ...old,
      ]);
      for (let worker = 0; worker < AT_ONCE; worker += 1) void work();
    },
    [work],
  );

  const stop = useCallback(
    (id: number) => {
      const isWaiting = waiting.current.some((it) => it.id === id);
      waiting.current = waiting.current.filter((it) => it.id !== id);
      if (isWaiting) change(id, { stage: "stopped" });
      running.current.get(id)?.abort();
    },
    [change],
  );

  const clear = useCallback(
    () =>
      setUploads((old) =>
        old.filter(
          (it) => it.stage === "waiting" || it.stage === "sending" || it.stage === "reading",
        ),
      ),
    [],
  );

  return { uploads, add, stop, clear };
}
