import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import type { Owner } from "../../api/place";
import { keys } from "../../api/queries";

export type Preview = Schemas["ContextPreview"];
export type Item = Schemas["PromptItem"];

/** A change that is tried: a new record, other words for one, or one taken away. */
export interface Trial {
  key: string;
  sort: "new" | "edit" | "delete";
  id?: string;
  /** What the record says now. */
  before: string;
  text: string;
  facet?: string | null;
  about?: string;
}

export interface Asked {
  owner: Owner;
  message: string;
  asOf?: string;
  trials: Trial[];
}

/** An item as it is said, without the dash that lists it in the block. */
export const plain = (text: string) => text.replace(/^- /, "");

/** Whether a trial says anything that differs from what is stored. */
export const counts = (trial: Trial) =>
  trial.sort === "delete" || (trial.text.trim() !== "" && trial.text !== trial.before);

const bodyOf = ({ sort, id, text, facet, about }: Trial) =>
  sort === "delete"
    ? { id, delete: true }
    : sort === "edit"
      ? { id, content: text, facet: facet ?? undefined, about: about ?? "" }
      : { content: text, source: "console" };

/** What an agent would be told; asked again when something is remembered. */
export function usePreview({ owner, message, asOf, trials }: Asked) {
  const changes = asOf === undefined ? trials.filter(counts).map(bodyOf) : [];
  return useQuery({
    queryKey: [keys.live, "preview", owner, message, asOf, changes],
    enabled: message !== "",
    placeholderData: keepPreviousData,
    queryFn: (): Promise<Preview> =>
      answer(
        api.POST("/v1/context/preview", {
          params: { query: owner },
          // Only what is named is sent: the server fills in the rest.
          body: { message, as_of: asOf ?? null, changes },
        }),
      ) as Promise<Preview>,
  });
}
