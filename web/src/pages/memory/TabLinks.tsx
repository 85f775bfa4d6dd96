import { Link, useSearch } from "@tanstack/react-router";
import { memo, useEffect, useRef } from "react";
import { useTranslation } from "../../i18n";
import { usePlace } from "../../lib/place";
import { TABS, type MemorySearch, type Tab } from "../../lib/address";

/** The kinds of memory, each at an address of its own. */
export const TabLinks = memo(function TabLinks({ tab }: { tab: Tab }) {
  const { t } = useTranslation();
  const place = usePlace();
  const search: MemorySearch = useSearch({ strict: false });
  const chosen = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // With the next frame, whose layout it then does not make twice.
    const frame = requestAnimationFrame(() =>
      chosen.current?.scrollIntoView({ block: "nearest", inline: "center" }),
    );
    return () => cancelAnimationFrame(frame);
  }, [tab]);
  return (
    <nav
      aria-label={t("memory.tabs")}
      className="border-line -mx-4 mt-2 mb-2 flex gap-1 overflow-x-auto border-b px-4 [scrollbar-width:none] sm:mx-0 sm:px-0"
    >
      {TABS.map((name) => (
        <Link
          key={name}
          {...(name === "all"
            ? { to: "/org/$org/ws/$workspace/memory", params: place }
            : { to: "/org/$org/ws/$workspace/memory/$tab", params: { ...place, tab: name } })}
          ref={name === tab ? chosen : undefined}
          search={{ ...search, record: undefined, view: undefined }}
          aria-current={name === tab ? "page" : undefined}
          className={`focusable -mb-px shrink-0 rounded-t-md border-b-2 px-3 py-2 font-medium transition-colors ${name === tab ? "border-accent text-foreground" : "text-muted hover:text-foreground border-transparent"}`}
        >
          {t(`tab.${name}`)}
        </Link>
      ))}
    </nav>
  );
});
