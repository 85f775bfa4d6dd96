import { answer, api, type Schemas } from "../../api/client";

export type Agent = Schemas["Agent"];
export type AgentPlace = Schemas["AgentPlace"];
type Backend = NonNullable<AgentPlace["backend"]>;

export const COMMON = "common";
export const BACKENDS = ["postgresql", "mysql", "sqlite"] as const satisfies Backend[];

/** Where an agent's memory is to be, as it is typed: a named store, or one that is described. */
export interface Place {
  /** `common`, `store:` with a name, or a back-end. */
  kind: string;
  url: string;
  passwordEnv: string;
  file: string;
}

const asKind = (store: string) => `store:${store}`;

export function storeOf(kind: string): string | undefined {
  return kind.startsWith("store:") ? kind.slice("store:".length) : undefined;
}

/** The stores that the settings file names, and that of the agent. */
export function kindsOf(stores: string[]): string[] {
  return [COMMON, ...stores.map(asKind), ...BACKENDS];
}

/** Where an agent's memory is now. */
export function placeOf(agent: Agent | undefined, name: string, stores: string[]): Place {
  const store = agent?.store ?? "";
  const backend = BACKENDS.find((known) => known === agent?.backend);
  const place = {
    kind: COMMON,
    url: "",
    passwordEnv: agent?.password_env ?? "",
    file: `${name.replaceAll(/[^\p{L}\p{N}_-]+/gu, "-") || "agent"}.db`,
  };
  if (store === "") return place;
  if (stores.includes(store) || backend === undefined) return { ...place, kind: asKind(store) };
  return backend === "sqlite"
    ? { ...place, kind: backend, file: store.split("/").at(-1) ?? store }
    : { ...place, kind: backend, url: store };
}

/** What the server is told of a place. */
export function wantedPlace(place: Place): AgentPlace {
  const store = storeOf(place.kind) ?? (place.kind === COMMON ? COMMON : undefined);
  if (store !== undefined) return { store };
  const backend = place.kind as Backend;
  return backend === "sqlite"
    ? { backend, sqlite_path: place.file.trim() }
    : {
        backend,
        url: place.url.trim(),
        ...(place.passwordEnv.trim() === "" ? {} : { password_env: place.passwordEnv.trim() }),
      };
}

/** Whether what a place needs is typed. */
export function isWhole(place: Place): boolean {
  if (place.kind === "sqlite") return place.file.trim() !== "";
  return !BACKENDS.some((backend) => backend === place.kind) || place.url.trim() !== "";
}

export function isSamePlace(one: Place, other: Place): boolean {
  return JSON.stringify(wantedPlace(one)) === JSON.stringify(wantedPlace(other));
}

/** Have the server open a store once; throw what is wrong with it. */
export async function tryPlace(name: string, place: Place): Promise<void> {
  await answer(
    api.POST("/v1/agents/{name}/try", { params: { path: { name } }, body: wantedPlace(place) }),
  );
}

/** Begin to move an agent's memory. */
export async function movePlace(name: string, place: Place): Promise<void> {
  await answer(
    api.POST("/v1/agents/{name}/move", { params: { path: { name } }, body: wantedPlace(place) }),
  );
}
