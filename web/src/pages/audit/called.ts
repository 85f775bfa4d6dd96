import type { Schemas } from "../../api/client";
import type { Translation } from "../../i18n";

// What has no title of its own.
const SORTS = ["write", "forget", "conflict"] as const;

export const isId = (target: string) => /^[a-z]+_[0-9a-z]/.test(target);

/** What an entry is about, in words; empty if only its id is known. */
export function calledOf(
  { title, target, action }: Schemas["AuditEntry"],
  { t, named }: Pick<Translation, "t" | "named">,
): string {
  if (title !== "") return title;
  const sort = SORTS.find((it) => target.startsWith(`${it}_`));
  if (sort !== undefined) return t(`audit.sort.${sort}`);
  if (action === "inspect") return named("looked", target);
  return isId(target) ? "" : target;
}
