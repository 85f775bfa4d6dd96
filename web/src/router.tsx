import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { allOf, oneOf, parseSearch, stringifySearch } from "./lib/address";
import { MemoryPage } from "./pages/memory/MemoryPage";
import { NotFoundPage } from "./pages/NotFoundPage";
import { StartPage } from "./pages/StartPage";
import { Shell } from "./parts/Shell";

/** Whose memory a page shows; kept from page to page. */
export interface WhoSearch {
  user?: string;
  agent?: string;
}

export interface MemorySearch extends WhoSearch {
  q?: string;
  tag?: string[];
  category?: string;
  facet?: string;
  status?: string;
  since?: string;
  until?: string;
  view?: string;
  record?: string;
}

export interface KnowledgeSearch extends WhoSearch {
  q?: string;
  collection?: string;
  status?: string;
  document?: string;
  /** The characters of the document to show, as `start-end`. */
  passage?: string;
}

export interface AuditSearch extends WhoSearch {
  action?: string;
  target?: string;
}

export interface ApprovalsSearch extends WhoSearch {
  status?: string;
}

const who = (search: globalThis.Record<string, unknown>): WhoSearch => ({
  user: oneOf(search.user),
  agent: oneOf(search.agent),
});

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

const start = createRoute({ getParentRoute: () => root, path: "/", component: StartPage });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: globalThis.Record<string, unknown>): { next?: string } => ({
    next: oneOf(search.next),
  }),
  component: lazyRouteComponent(() => import("./pages/SignInPage"), "SignInPage"),
});

export const workspaceRoute = createRoute({
  getParentRoute: () => root,
  path: "/org/$org/ws/$workspace",
  component: Shell,
});

const workspaceStart = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/org/$org/ws/$workspace/memory", params });
  },
});

export const TABS = ["all", "semantic", "episodic", "procedural", "shared", "knowledge"] as const;
export type Tab = (typeof TABS)[number];

const memorySearch = (search: globalThis.Record<string, unknown>): MemorySearch => ({
  ...who(search),
  q: oneOf(search.q),
  tag: allOf(search.tag),
  category: oneOf(search.category),
  facet: oneOf(search.facet),
  status: oneOf(search.status),
  since: oneOf(search.since),
  until: oneOf(search.until),
  view: oneOf(search.view),
  record: oneOf(search.record),
});

const memory = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/memory",
  validateSearch: memorySearch,
  component: MemoryPage,
});

const memoryTab = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/memory/$tab",
  validateSearch: memorySearch,
  component: MemoryPage,
});

const knowledge = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/memory/knowledge",
  validateSearch: (search: globalThis.Record<string, unknown>): KnowledgeSearch => ({
    ...who(search),
    q: oneOf(search.q),
    collection: oneOf(search.collection),
    status: oneOf(search.status),
    document: oneOf(search.document),
    passage: oneOf(search.passage),
  }),
  component: lazyRouteComponent(() => import("./pages/knowledge/KnowledgePage"), "KnowledgePage"),
});

const sessions = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/sessions",
  validateSearch: who,
  component: lazyRouteComponent(() => import("./pages/sessions/SessionsPage"), "SessionsPage"),
});

const session = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/sessions/$session",
  validateSearch: who,
  component: lazyRouteComponent(() => import("./pages/sessions/SessionPage"), "SessionPage"),
});

const agents = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/agents",
  validateSearch: who,
  component: lazyRouteComponent(() => import("./pages/AgentsPage"), "AgentsPage"),
});

const approvals = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/approvals",
  validateSearch: (search: globalThis.Record<string, unknown>): ApprovalsSearch => ({
    ...who(search),
    status: oneOf(search.status),
  }),
  component: lazyRouteComponent(() => import("./pages/ApprovalsPage"), "ApprovalsPage"),
});

const audit = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/audit",
  validateSearch: (search: globalThis.Record<string, unknown>): AuditSearch => ({
    ...who(search),
    action: oneOf(search.action),
    target: oneOf(search.target),
  }),
  component: lazyRouteComponent(() => import("./pages/AuditPage"), "AuditPage"),
});

const metrics = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/metrics",
  validateSearch: who,
  component: lazyRouteComponent(() => import("./pages/MetricsPage"), "MetricsPage"),
});

const settings = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/settings",
  validateSearch: who,
  component: lazyRouteComponent(() => import("./pages/SettingsPage"), "SettingsPage"),
});

const routes = root.addChildren([
  start,
  signIn,
  workspaceRoute.addChildren([
    workspaceStart,
    memory,
    memoryTab,
    knowledge,
    sessions,
    session,
    agents,
    approvals,
    audit,
    metrics,
    settings,
  ]),
]);

export const router = createRouter({
  routeTree: routes,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
