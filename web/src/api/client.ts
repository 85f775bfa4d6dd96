import createClient, { type Middleware } from "openapi-fetch";
import { reconnected } from "../lib/connection";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type Record = Schemas["Record"];
export type Scope = Schemas["Scope"];
export type Hit = Schemas["Hit"];
export type Turn = Schemas["Turn"];

/** What the server says when it refuses: what happened, and what to do. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly currentVersion: number | null;

  constructor(problem: Partial<Schemas["Problem"]>, status: number) {
    super(problem.detail ?? `HTTP ${status}`);
    this.name = "ApiProblem";
    this.status = status;
    this.code = problem.code ?? "unexpected";
    this.hint = problem.hint ?? "";
    this.currentVersion = problem.current_version ?? null;
  }
}

/** The server cannot be reached at all. */
export class Unreachable extends Error {}

let csrfToken: string | null = null;
let person = "local";

/** Name who uses the console; a server with keys goes by the name of the key instead. */
export function namePerson(name: string): void {
  person = name;
}

/** Send this token with every write from now on: it shows that this page, not another, sent it. */
export function sendCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** The header that shows that this page sent a write; none where no cookie signs in. */
export function csrfHeader(): globalThis.Record<string, string> {
  return csrfToken === null ? {} : { "X-CSRF-Token": csrfToken };
}

const middleware: Middleware = {
  onRequest({ request }) {
    request.headers.set("X-Recollect-Person", encodeURIComponent(person));
    if (request.method !== "GET") {
      for (const [name, value] of Object.entries(csrfHeader())) request.headers.set(name, value);
    }
    // The server takes a POST only as JSON, also one without a body.
    if (request.method === "POST" && !request.headers.has("Content-Type")) {
      request.headers.set("Content-Type", "application/json");
    }
    return request;
  },
  onError() {
    void reconnected();
    return new Unreachable("The server does not answer");
  },
};

export const api = createClient<paths>({ baseUrl: location.origin });
api.use(middleware);

interface Answered<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

let whenSignedOut: () => void = () => {};
let holds = 0;

/** Stay on the page although the server may ask for a key; return what ends that. */
export function holdSignOut(): () => void {
  let isHeld = true;
  holds += 1;
  return () => {
    if (isHeld) holds -= 1;
    isHeld = false;
  };
}

/** Be told when the server asks for a key. */
export function onSignedOut(listener: () => void): void {
  whenSignedOut = listener;
}

/** Return what was answered, or throw the problem. */
export async function answer<T>(call: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  if (response.status === 401 && holds === 0) whenSignedOut();
  const problem = typeof error === "object" && error !== null ? error : {};
  throw new ApiProblem(problem, response.status);
}
