import type { Record, Scope } from "./client";

/** The agent that stands for what a whole workspace shares. */
export const SHARED_AGENT = "*shared";

/** Which workspace a page shows. */
export interface Place {
  org: string;
  workspace: string;
}

/** Name the owner of a scope as the server's addresses do; `-` is none. */
export function ownerOf(scope: Scope) {
  return {
    org: scope.org,
    workspace: scope.workspace,
    agent: scope.agent === null || scope.agent === SHARED_AGENT ? "-" : scope.agent,
    user: scope.user ?? "-",
  };
}

export function isShared(record: Record): boolean {
  return record.scope.agent === SHARED_AGENT;
}

/** What a record is shown as: its kind, or shared. */
export type Face = "semantic" | "episodic" | "procedural" | "shared";

export function faceOf(record: Record): Face {
  return isShared(record) ? "shared" : record.kind;
}
