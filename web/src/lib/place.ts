import { useParams, useSearch } from "@tanstack/react-router";
import type { Place } from "../api/place";

/** The workspace in the address. */
export function usePlace(): Place {
  const { org, workspace } = useParams({ strict: false });
  return { org: org ?? "local", workspace: workspace ?? "default" };
}

/** The person and the agent that pages are narrowed to, if any. */
export function useWho(): { user?: string; agent?: string } {
  const search = useSearch({ strict: false }) as { user?: string; agent?: string };
  return { user: search.user, agent: search.agent };
}
