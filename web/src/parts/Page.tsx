import { useEffect, type ReactNode } from "react";

/** A page with its heading, its actions and its content; all begin at the same edge. */
export function Page({
  title,
  lead,
  actions,
  children,
  width = "max-w-5xl",
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  width?: string;
}) {
  useEffect(() => {
    document.title = `${title} · Recollect`;
  }, [title]);
  return (
    <div className="mx-auto w-full max-w-[88rem] px-4 pt-6 pb-16 sm:px-8 sm:pt-8">
      <div className={`${width} min-w-0`}>
        <div className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
          <div className="min-w-0">
            <h1 className="text-[22px] leading-8 font-semibold tracking-tight">{title}</h1>
            {lead !== undefined && <p className="text-muted mt-0.5 max-w-2xl">{lead}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
        </div>
        {children}
      </div>
    </div>
  );
}
