import { Link } from "@tanstack/react-router";
import type { Scope } from "../api/client";
import { SHARED_AGENT } from "../api/place";
import { usePlace } from "../lib/place";

const COLLECTION = "*kb:";

/** Names a record, a message or a document, and leads to it; an id that leads nowhere is text. */
export function ThingLink({
  id,
  name,
  scope,
  session,
  className = "",
}: {
  id: string;
  /** What it is called; without a name its id is shown. */
  name: string;
  scope: Scope;
  /** The session of a message. */
  session?: string;
  className?: string;
}) {
  const place = usePlace();
  const user = scope.user ?? undefined;
  const agent = scope.agent ?? undefined;
  const shown = name === "" ? <code className="font-mono text-xs">{id}</code> : name;
  const look = `ink-link said ${className}`;
  if (/^(mem|ep|proc)_/.test(id)) {
    const isShared = scope.agent === SHARED_AGENT;
    return (
      <Link
        to="/org/$org/ws/$workspace/memory/$tab"
        params={{ ...place, tab: isShared ? "shared" : "all" }}
        search={{ user, agent: isShared ? undefined : agent, record: id }}
        className={look}
      >
        {shown}
      </Link>
    );
  }
  if (id.startsWith("turn_") && session !== undefined) {
    return (
      <Link
        to="/org/$org/ws/$workspace/sessions/$session"
        params={{ ...place, session }}
        search={{ user, agent }}
        className={look}
      >
        {shown}
      </Link>
    );
  }
  if (id.startsWith("doc_")) {
    return (
      <Link
        to="/org/$org/ws/$workspace/memory/knowledge"
        params={place}
        search={{
          user,
          collection: agent?.startsWith(COLLECTION) ? agent.slice(COLLECTION.length) : undefined,
          document: id,
        }}
        className={look}
      >
        {shown}
      </Link>
    );
  }
  return <span className={`said ${className}`}>{shown}</span>;
}
