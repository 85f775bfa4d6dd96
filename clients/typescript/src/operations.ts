import type { paths } from "./schema.js";

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** The paths that answer a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: { responses: unknown } } ? P : never;
}[keyof paths];

export type OperationOf<M extends Method, P extends keyof paths> = paths[P] extends {
  [K in M]: infer O;
}
  ? O
  : never;

type Scoped = "org" | "workspace" | "agent" | "user";
type ParametersOf<O> = O extends { parameters: infer A } ? A : never;
type PathParameters<O> = ParametersOf<O> extends { path: infer A } ? A : never;
type QueryParameters<O> = ParametersOf<O> extends { query?: infer Q } ? Omit<NonNullable<Q>, Scoped> : never;
type Content<O> = O extends { requestBody?: { content: infer C } } ? C : never;
type Body<O> = Content<O> extends { "application/json": infer B } ? B : never;
type Json<R> = R extends { content: { "application/json": infer T } } ? T : never;

/** What an operation answers when it succeeds. */
export type AnswerOf<O> = O extends { responses: infer R }
  ? {
      [S in keyof R]: S extends 200 | 201 | 202 ? Json<R[S]> : never;
    }[keyof R]
  : never;

type IsRequired<O> = O extends { requestBody: unknown } ? true : false;
type Given<T, Name extends string> = [T] extends [never] ? unknown : { [K in Name]: T };
type MaybeGiven<T, Name extends string> = [T] extends [never] ? unknown : { [K in Name]?: T };

/** What an operation is called with; the scope comes from the client. */
export type CallOf<O> = Given<PathParameters<O>, "path"> &
  MaybeGiven<QueryParameters<O>, "query"> &
  (IsRequired<O> extends true ? Given<Body<O>, "body"> : MaybeGiven<Body<O>, "body">) & {
    /** The same key and request answer the same for a day, and are done once. */
    idempotencyKey?: string;
    signal?: AbortSignal;
  };

/** The last argument of a call, which is optional when nothing in it is needed. */
export type Rest<O> = object extends CallOf<O> ? [call?: CallOf<O>] : [call: CallOf<O>];
