import type { Record } from "../../api/client";
import { partsOf, tagsIn } from "../../lib/lists";
import type { Changed } from "./actions";

/** What the editor's fields hold. */
export interface Draft {
  kind: "semantic" | "episodic" | "procedural";
  title: string;
  content: string;
  category: string;
  facet: string;
  about: string;
  tags: string;
  steps: string;
  outcome: string;
  confidence: string;
  reason: string;
}

// A choice needs a value that is not empty.
export const UNKNOWN = "*unknown";

export const EMPTY: Draft = {
  kind: "semantic",
  title: "",
  content: "",
  category: "",
  facet: UNKNOWN,
  about: UNKNOWN,
  tags: "",
  steps: "",
  outcome: "",
  confidence: "100",
  reason: "",
};

export const MOST_TAGS_SHOWN = 200;

export function draftOf(record: Record): Draft {
  return {
    kind: record.kind,
    title: record.title,
    content: record.content,
    category: record.category,
    facet: record.facet || UNKNOWN,
    about: record.about || UNKNOWN,
    tags: record.tags.slice(0, MOST_TAGS_SHOWN).join(", "),
    steps: record.kind === "procedural" ? record.steps.join("\n") : "",
    outcome: record.kind === "episodic" ? record.outcome : "",
    confidence: String(Math.round(record.confidence * 100)),
    reason: "",
  };
}

/** Only what was changed is sent: what somebody else changed meanwhile is left alone. */
export function changesOf(before: Draft, now: Draft, unseenTags: string[] = []): Changed {
  const changes: Changed = {};
  if (now.content !== before.content) changes.content = now.content;
  if (now.title !== before.title) changes.title = now.title;
  if (now.category !== before.category) changes.category = now.category;
  // New words state what is chosen beside them; nothing chosen is left to the server.
  const isReworded = now.content !== before.content && now.facet !== UNKNOWN;
  if (isReworded || now.facet !== before.facet)
    changes.facet = now.facet === UNKNOWN ? "" : now.facet;
  if (isReworded || now.about !== before.about)
    changes.about = now.about === UNKNOWN ? "" : now.about;
  if (now.tags !== before.tags) changes.tags = [...tagsIn(now.tags), ...unseenTags];
  if (now.steps !== before.steps) changes.steps = partsOf(now.steps, "\n");
  if (now.outcome !== before.outcome) changes.outcome = now.outcome;
  if (now.confidence !== before.confidence) changes.confidence = Number(now.confidence) / 100;
  return changes;
}

/** What somebody else saved meanwhile, with the changes that were made here on top of it. */
export function rebased(theirs: Record, before: Draft, mine: Draft): Draft {
  const changed = Object.entries(mine).filter(
    ([name, text]) => text !== before[name as keyof Draft],
  );
  return { ...draftOf(theirs), ...Object.fromEntries(changed), reason: mine.reason };
}
