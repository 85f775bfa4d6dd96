import type { Translation } from ".";

/** Say who did something: a person, an agent, or a program by the name of its key. */
export function authorOf(actor: string, t: Translation["t"]): string {
  if (actor === "local") return t("author.local");
  if (actor === "recollect") return t("author.recollect");
  if (actor === "sweep") return t("author.sweep");
  const [means = "", name] = actor.split(/:(.*)/s);
  if (name === undefined) return actor;
  if (means === "key" || means === "token") return t("author.key", { name });
  return means === "cookie" ? name : actor;
}
