import { useEffect, type ReactNode } from "react";
import { tellReady } from "../lib/ready";

/** A page with its heading, its actions and its content; all begin at the same edge. */
export function Page({
  title,
  lead,
  actions,
  children,
  isReady = true,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** Whether the content is there; what only surrounds the page waits for it. */
  isReady?: boolean;
}) {
  useEffect(() => {
    document.title = `${title} · Recollect`;
  }, [title]);
  useEffect(() => {
    if (isReady) tellReady();
  }, [isReady]);
  return (
    <div className="mx-auto w-full max-w-[88rem] min-w-0 px-4 pt-5 pb-16 sm:px-8 sm:pt-8">
      <div className="mb-5 grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-6 sm:mb-6">
        <h1 className="said text-[22px] leading-9 font-semibold tracking-tight">{title}</h1>
        {actions !== undefined && (
          <div className="flex flex-wrap gap-2 sm:row-span-2 sm:self-end">{actions}</div>
        )}
        {lead !== undefined && (
          <p className="text-muted col-start-1 max-w-2xl max-sm:col-span-2 max-sm:mt-1">{lead}</p>
        )}
      </div>
      {children}
    </div>
  );
}
