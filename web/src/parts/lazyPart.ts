import { lazyRouteComponent as lazyPage } from "@tanstack/react-router";
import { lazy, type FunctionComponent } from "react";
import { load } from "../lib/connection";

/** A part of a page that is loaded when it is first shown. */
export function lazyPart<Props>(part: () => Promise<FunctionComponent<Props>>) {
  return lazy(async () => ({ default: await load(part) }));
}

/** A page that is loaded when it is first gone to. */
export const lazyRouteComponent: typeof lazyPage = (module, name) =>
  lazyPage(() => load(module), name);
