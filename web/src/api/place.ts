import type { Place } from "../lib/address";
import type { Record, Scope } from "./client";

/** The agent that stands for what a whole workspace shares. */
export const SHARED_AGENT = "*shared";

/** Whose memory a request is about, as the server's addresses name it; `-` is none. */
export interface Owner extends Place {
  agent: string;
  user: string;
}

export function ownerOf(scope: Scope): Owner {
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
