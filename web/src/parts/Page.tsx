import { useEffect, type ReactNode } from "react";
import { tellReady } from "../lib/ready";

/** A page with its heading, its actions and its content; all begin at the same edge. */
export function Page({
  title,
  lead,
  actions,
  children,
  aside,
  isReady = true,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** What stands beside the page, at its full height. */
  aside?: ReactNode;
  /** Whether the content is there; what only surrounds the page waits for it. */
  isReady?: boolean;
}) {
  useEffect(() => {
    document.title = `${title} · Recollect`;
  }, [title]);
  useEffect(() => {
    if (isReady) tellReady();
  }, [isReady]);
  const page = (
    <div className="mx-auto w-full max-w-[88rem] min-w-0 px-4 pt-3 pb-16 sm:px-6 sm:pt-4">
      <div className="mb-3 grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-6">
        <h1 className="said text-xl leading-9 font-semibold tracking-tight">{title}</h1>
        {actions !== undefined && (
          <div className="flex flex-wrap gap-2 sm:row-span-2">{actions}</div>
        )}
        {lead !== undefined && (
          <p className="text-muted col-start-1 max-w-2xl max-sm:col-span-2 max-sm:mt-1">{lead}</p>
        )}
      </div>
      {children}
    </div>
  );
  if (aside === undefined) return page;
  return (
    <div className="flex">
      <div className="min-w-0 flex-1">{page}</div>
      {aside}
    </div>
  );
}
