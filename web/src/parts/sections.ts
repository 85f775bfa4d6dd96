import {
  Bot,
  Brain,
  ChartNoAxesColumn,
  MessagesSquare,
  ScanText,
  ScrollText,
  Settings,
  Stamp,
  UsersRound,
  type LucideIcon,
} from "lucide-react";
import type { MessageKey } from "../i18n";

interface Section {
  /** The end of its address. */
  page: string;
  to: string;
  label: MessageKey;
  icon: LucideIcon;
  /** It concerns everybody on the server, and is shown to its administrators alone. */
  isServer?: boolean;
}

/** The pages of a workspace, in the order of the navigation. */
export const SECTIONS = [
  { page: "memory", to: "/org/$org/ws/$workspace/memory", label: "nav.memory", icon: Brain },
  { page: "prompt", to: "/org/$org/ws/$workspace/prompt", label: "nav.prompt", icon: ScanText },
  { page: "people", to: "/org/$org/ws/$workspace/people", label: "nav.people", icon: UsersRound },
  {
    page: "sessions",
    to: "/org/$org/ws/$workspace/sessions",
    label: "nav.sessions",
    icon: MessagesSquare,
  },
  {
    page: "agents",
    to: "/org/$org/ws/$workspace/agents",
    label: "nav.agents",
    icon: Bot,
    isServer: true,
  },
  { page: "approvals", to: "/org/$org/ws/$workspace/approvals", label: "nav.approvals", icon: Stamp },
  { page: "audit", to: "/org/$org/ws/$workspace/audit", label: "nav.audit", icon: ScrollText },
  {
    page: "metrics",
    to: "/org/$org/ws/$workspace/metrics",
    label: "nav.metrics",
    icon: ChartNoAxesColumn,
    isServer: true,
  },
  {
    page: "settings",
    to: "/org/$org/ws/$workspace/settings",
    label: "nav.settings",
    icon: Settings,
  },
] as const satisfies Section[];
