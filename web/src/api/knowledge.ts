import { queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import {
  answer,
  api,
  csrfHeader,
  ApiProblem,
  Unreachable,
  type Schemas,
  type Scope,
} from "./client";
import type { Owner } from "./place";
import { keys } from "./queries";

export type Document = Schemas["Document"];
export type Section = Schemas["Section"];
export type Chunk = Schemas["Chunk"];
export type Passage = Schemas["Passage"];

const PAGE = 50;
const PIECES = 100;
const FOUND = 8;
const WAITING_MS = 1500;
const NONE = "-";

/** Return who may change what lies in a collection: its scope names them behind an `@`. */
export function ownerOfCollection(scope: Scope): Owner {
  const agent = (scope.agent ?? "").split("@").slice(1).join("@");
  return {
    org: scope.org,
    workspace: scope.workspace,
    agent: agent === "" ? NONE : agent,
    user: scope.user ?? NONE,
  };
}

export function useCollections(owner: Owner) {
  return useQuery({
    queryKey: [keys.live, "collections", owner],
    queryFn: () => answer(api.GET("/v1/knowledge/collections", { params: { query: owner } })),
  });
}

export function useDocuments(owner: Owner, collection?: string, status?: string) {
  return useInfiniteQuery({
    queryKey: [keys.live, "documents", owner, collection, status],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer(
        api.GET("/v1/knowledge/documents", {
          params: {
            query: {
              ...owner,
              collection,
              status: status as Document["status"] | undefined,
              limit: PAGE,
              cursor: pageParam,
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
    // What waits to be read is asked for again until it is.
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) =>
        page.items.some((it) => it.pending_hash !== "" && it.error === ""),
      )
        ? WAITING_MS
        : false,
  });
}

export function useDocument(owner: Owner, id: string) {
  return useQuery({
    queryKey: [keys.live, "document", owner, id],
    queryFn: () =>
      answer(
        api.GET("/v1/knowledge/documents/{document_id}", {
          params: { path: { document_id: id }, query: owner },
        }),
      ),
  });
}

export function useSections(owner: Owner, id: string, version: number | undefined) {
  return useInfiniteQuery({
    queryKey: ["sections", owner, id, version],
    enabled: version !== undefined,
    initialPageParam: -1,
    queryFn: ({ pageParam }) =>
      answer(
        api.GET("/v1/knowledge/documents/{document_id}/sections", {
          params: {
            path: { document_id: id },
            query: { ...owner, after: pageParam, limit: PIECES },
          },
        }),
      ),
    getNextPageParam: ({ items }) => (items.length < PIECES ? undefined : items.at(-1)?.ordinal),
  });
}

export function useChunks(owner: Owner, id: string, version: number | undefined) {
  return useInfiniteQuery({
    queryKey: ["chunks", owner, id, version],
    enabled: version !== undefined,
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      answer(
        api.GET("/v1/knowledge/documents/{document_id}/chunks", {
          params: {
            path: { document_id: id },
            query: { ...owner, after: pageParam, limit: PIECES },
          },
        }),
      ),
    getNextPageParam: ({ items }) => (items.length < PIECES ? undefined : items.at(-1)?.ordinal),
  });
}

export function passagesQuery(owner: Owner, question: string, collection?: string) {
  return queryOptions({
    queryKey: [keys.live, "passages", owner, question, collection],
    queryFn: (): Promise<Schemas["Passages"]> =>
      answer(
        api.POST("/v1/knowledge/search", {
          params: { query: owner },
          body: {
            query: question,
            limit: FOUND,
            min_score: 0,
            collections: collection === undefined ? null : [collection],
          },
        }),
      ) as Promise<Schemas["Passages"]>,
  });
}

export function originalAddress(owner: Owner, id: string): string {
  const query = new URLSearchParams({ ...owner });
  return `/v1/knowledge/documents/${encodeURIComponent(id)}/original?${query}`;
}

/** Send a file, telling how much of it has gone; answers when the server has read it. */
export function upload(
  owner: Owner,
  collection: string,
  file: File,
  source: string,
  tell: (sent: number) => void,
  signal: AbortSignal,
): Promise<Document> {
  // fetch() cannot tell how much of a body has gone.
  const request = new XMLHttpRequest();
  const query = new URLSearchParams({ ...owner, collection, source });
  request.open("PUT", `/v1/knowledge/documents?${query}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  for (const [name, value] of Object.entries(csrfHeader())) request.setRequestHeader(name, value);
  request.responseType = "json";
  return new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => tell(event.total === 0 ? 1 : event.loaded / event.total);
    request.upload.onload = () => tell(1);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve(request.response as Document);
      else reject(new ApiProblem((request.response ?? {}) as Schemas["Problem"], request.status));
    };
    request.onerror = () => reject(new Unreachable("The server does not answer"));
    request.onabort = () => reject(new DOMException("The upload was stopped", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
