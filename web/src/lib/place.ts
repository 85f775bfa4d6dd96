import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { AnySearch, Place, Who } from "./address";

/** The workspace in the address. */
export function usePlace(): Place {
  const { org, workspace } = useParams({ strict: false });
  return { org: org ?? "local", workspace: workspace ?? "default" };
}

/** The person and the agent that pages are narrowed to, if any. */
export function useWho(): Who {
  const { user, agent } = useSearch({ strict: false });
  return { user, agent };
}

interface Manner {
  replace?: boolean;
  resetScroll?: boolean;
}

/** Return a function that changes some names in the address's search part and keeps the others. */
export function useSetSearch() {
  const navigate = useNavigate();
  return useCallback(
    (changes: AnySearch, manner?: Manner) => {
      const search = (old: AnySearch) => ({ ...old, ...changes });
      // The router knows the search parts of all pages, but not which page "." is.
      // oxlint-disable-next-line console/no-as-never
      void navigate({ to: ".", search: search as never, ...manner });
    },
    [navigate],
  );
}
