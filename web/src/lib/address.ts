/** The workspace in the address. */
export interface Place {
  org: string;
  workspace: string;
}

/** Whose memory a page shows; kept from page to page. */
export interface Who {
  user?: string;
  agent?: string;
}

export interface MemorySearch extends Who {
  q?: string;
  tag?: string[];
  category?: string;
  facet?: string;
  status?: string;
  since?: string;
  until?: string;
  view?: string;
  order?: Order;
  record?: string;
}

/** Which records come first. */
export const ORDERS = ["newest", "oldest", "surest", "least_sure", "most_used"] as const;
export type Order = (typeof ORDERS)[number];

export interface KnowledgeSearch extends Who {
  q?: string;
  collection?: string;
  status?: string;
  document?: string;
  /** The characters of the document to show, as `start-end`. */
  passage?: string;
}

export interface AuditSearch extends Who {
  action?: string;
  target?: string;
}

export interface ApprovalsSearch extends Who {
  status?: string;
}

export interface PromptSearch extends Who {
  q?: string;
  as_of?: string;
}

export interface PersonSearch extends Who {
  view?: string;
}

/** Everything that the search part of some page's address can hold. */
export type AnySearch = MemorySearch &
  KnowledgeSearch &
  AuditSearch &
  ApprovalsSearch &
  PromptSearch;

export const TABS = ["all", "semantic", "episodic", "procedural", "shared", "knowledge"] as const;
export type Tab = (typeof TABS)[number];

type Search = globalThis.Record<string, unknown>;

export const whoSearch = (search: Search): Who => read(search, "user", "agent");

export const memorySearch = (search: Search): MemorySearch => ({
  ...whoSearch(search),
  ...read(search, "q", "category", "facet", "status", "since", "until", "view", "record"),
  order: ORDERS.find((name) => name === allOf(search.order)?.[0]),
  tag: allOf(search.tag),
});

export const knowledgeSearch = (search: Search): KnowledgeSearch =>
  read(search, "user", "agent", "q", "collection", "status", "document", "passage");

export const auditSearch = (search: Search): AuditSearch =>
  read(search, "user", "agent", "action", "target");

export const approvalsSearch = (search: Search): ApprovalsSearch =>
  read(search, "user", "agent", "status");

export const promptSearch = (search: Search): PromptSearch =>
  read(search, "user", "agent", "q", "as_of");

export const personSearch = (search: Search): PersonSearch =>
  read(search, "user", "agent", "view");

export const signInSearch = (search: Search): { next?: string } => read(search, "next");

/** Return what a search part says for some names; of a repeated name the first. */
function read<Name extends string>(search: Search, ...names: Name[]): { [name in Name]?: string } {
  const found: { [name in Name]?: string } = {};
  for (const name of names) found[name] = allOf(search[name])?.[0];
  return found;
}

/** Read the search part of an address: plain names, a list as a repeated name. */
export function parseSearch(text: string): Search {
  const found: globalThis.Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const known = found[name];
    if (known === undefined) found[name] = value;
    else found[name] = Array.isArray(known) ? [...known, value] : [known, value];
  }
  return found;
}

/** Write the search part of an address; what is empty is left out. */
export function stringifySearch(search: Search): string {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const text of allOf(value) ?? []) written.append(name, text);
  }
  const text = written.toString();
  return text === "" ? "" : `?${text}`;
}

/** Whether an address asks for some of the records only. */
export function isNarrowed(search: MemorySearch): boolean {
  const { tag, category, facet, since, until, agent, status } = search;
  return [tag, category, facet, since, until, agent, status].some((value) => value !== undefined);
}

/** Read a passage such as `120-480`. */
export function spanOf(text: string | undefined): [number, number] | null {
  const found = /^(\d+)-(\d+)$/.exec(text ?? "");
  return found === null ? null : [Number(found[1]), Number(found[2])];
}

function allOf(value: unknown): string[] | undefined {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.filter((one): one is string => typeof one === "string" && one !== "");
  return texts.length > 0 ? texts : undefined;
}
