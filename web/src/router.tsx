import {
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import {
  approvalsSearch,
  auditSearch,
  knowledgeSearch,
  memorySearch,
  parseSearch,
  personSearch,
  promptSearch,
  signInSearch,
  stringifySearch,
  whoSearch,
} from "./lib/address";
import { MemoryPage } from "./pages/memory/MemoryPage";
import { NotFoundPage } from "./pages/NotFoundPage";
import { StartPage } from "./pages/StartPage";
import { lazyRouteComponent } from "./parts/lazyPart";
import { Shell } from "./parts/Shell";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

const start = createRoute({ getParentRoute: () => root, path: "/", component: StartPage });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import("./pages/SignInPage"), "SignInPage"),
});

const workspaceRoute = createRoute({
  getParentRoute: () => root,
  path: "/org/$org/ws/$workspace",
  component: Shell,
});

const workspaceStart = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/",
  beforeLoad: ({ params }) => {
    redirect({ to: "/org/$org/ws/$workspace/memory", params, throw: true });
  },
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
  validateSearch: knowledgeSearch,
  component: lazyRouteComponent(() => import("./pages/knowledge/KnowledgePage"), "KnowledgePage"),
});

const knowledgeAddress = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/knowledge",
  validateSearch: knowledgeSearch,
  beforeLoad: ({ params, search }) => {
    redirect({ to: "/org/$org/ws/$workspace/memory/knowledge", params, search, throw: true });
  },
});

const sessions = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/sessions",
  validateSearch: whoSearch,
  component: lazyRouteComponent(() => import("./pages/sessions/SessionsPage"), "SessionsPage"),
});

const session = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/sessions/$session",
  validateSearch: whoSearch,
  component: lazyRouteComponent(() => import("./pages/sessions/SessionPage"), "SessionPage"),
});

const agents = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/agents",
  validateSearch: whoSearch,
  component: lazyRouteComponent(() => import("./pages/agents/AgentsPage"), "AgentsPage"),
});

const approvals = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/approvals",
  validateSearch: approvalsSearch,
  component: lazyRouteComponent(() => import("./pages/ApprovalsPage"), "ApprovalsPage"),
});

const audit = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/audit",
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import("./pages/audit/AuditPage"), "AuditPage"),
});

const metrics = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/metrics",
  validateSearch: whoSearch,
  component: lazyRouteComponent(() => import("./pages/MetricsPage"), "MetricsPage"),
});

const prompt = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/prompt",
  validateSearch: promptSearch,
  component: lazyRouteComponent(() => import("./pages/prompt/PromptPage"), "PromptPage"),
});

const people = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/people",
  validateSearch: whoSearch,
  component: lazyRouteComponent(() => import("./pages/people/PeoplePage"), "PeoplePage"),
});

const person = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/people/$person",
  validateSearch: personSearch,
  component: lazyRouteComponent(() => import("./pages/people/PersonPage"), "PersonPage"),
});

const write = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/writes/$write",
  validateSearch: whoSearch,
  component: lazyRouteComponent(() => import("./pages/writes/WritePage"), "WritePage"),
});

const welcome = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/welcome",
  validateSearch: whoSearch,
  component: lazyRouteComponent(() => import("./pages/welcome/WelcomePage"), "WelcomePage"),
});

const settings = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/settings",
  validateSearch: whoSearch,
  component: lazyRouteComponent(() => import("./pages/settings/SettingsPage"), "SettingsPage"),
});

const routes = root.addChildren([
  start,
  signIn,
  workspaceRoute.addChildren([
    workspaceStart,
    memory,
    memoryTab,
    knowledge,
    knowledgeAddress,
    sessions,
    session,
    agents,
    approvals,
    audit,
    metrics,
    prompt,
    people,
    person,
    write,
    welcome,
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
