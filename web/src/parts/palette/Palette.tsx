import { Modal } from "@heroui/react";
import { useNavigate, type NavigateOptions } from "@tanstack/react-router";
import {
  Bot,
  Brain,
  CircleUserRound,
  CornerDownLeft,
  FileText,
  MessagesSquare,
  Search,
  Zap,
  type LucideIcon,
} from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useWords } from "../../i18n/words";
import { runCommand, type Command } from "../../lib/commands";
import { usePlace, useWho } from "../../lib/place";
import { useTheme } from "../../lib/theme";
import { SECTIONS } from "../sections";
import { useFoundRecords, usePlaces } from "./places";
import { words } from "./words";

type Group = "pages" | "people" | "agents" | "sessions" | "records" | "actions";
interface Entry {
  id: string;
  group: Group;
  label: string;
  note?: string;
  /** Further words that find it, in both languages. */
  also?: string;
  run: () => void;
}

const GROUPS: Group[] = ["pages", "actions", "people", "agents", "sessions", "records"];
const ICONS: globalThis.Record<Group, LucideIcon> = {
  pages: FileText,
  actions: Zap,
  people: CircleUserRound,
  agents: Bot,
  sessions: MessagesSquare,
  records: Brain,
};
// Without a question, only a few of each are listed.
const FEW = 4;
const MANY = 8;
const COMMANDS: { name: Command; to: string; also: string; isServer?: boolean; isAdmin?: boolean }[] =
  [
    { name: "add", to: "memory", also: "new remember 新建 添加 记住" },
    { name: "export", to: "memory", also: "download json 下载 导出" },
    { name: "forget", to: "memory", also: "erase delete privacy 删除 遗忘", isAdmin: true },
    { name: "cleanUp", to: "memory", also: "expired sweep 过期 清理" },
    { name: "verify", to: "audit", also: "audit chain 审计 验证", isAdmin: true },
    { name: "newAgent", to: "agents", also: "agent configure 设置", isServer: true },
    { name: "newKey", to: "settings", also: "api key token 密钥", isServer: true },
  ];

/** A box that goes to anything and runs any action. */
export default function Palette({
  isOpen,
  onClose,
  onHelp,
}: {
  isOpen: boolean;
  onClose: () => void;
  onHelp: () => void;
}) {
  const { w } = useWords(words);
  return (
    <Modal.Backdrop isOpen={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Modal.Container placement="top" className="pt-[8dvh] sm:pt-[12dvh]">
        <Modal.Dialog
          aria-label={w("title")}
          className="w-[calc(100vw-2rem)] max-w-xl overflow-hidden p-0"
        >
          {isOpen && <Content onClose={onClose} onHelp={onHelp} />}
        </Modal.Dialog>
      </Modal.Container>
    </Modal.Backdrop>
  );
}

function Content({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const { w } = useWords(words);
  const list = useId();
  const [question, setQuestion] = useState("");
  const [place, setPlace] = useState(0);
  const entries = useEntries(onHelp);
  const records = useFoundRecords(question);
  const { navigateTo } = useGo();
  const shown = useMemo(() => {
    const sought = question.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const found = entries.filter((entry) =>
      sought.every((word) =>
        `${entry.label} ${entry.note ?? ""} ${entry.also ?? ""}`.toLowerCase().includes(word),
      ),
    );
    const most = sought.length === 0 ? FEW : MANY;
    const told = records.items.map(
      (record): Entry => ({
        id: `record ${record.id}`,
        group: "records",
        label: record.content,
        note: record.scope.user ?? undefined,
        run: () =>
          navigateTo("memory", { user: record.scope.user ?? undefined, record: record.id }),
      }),
    );
    return GROUPS.flatMap((group) => {
      const all = [...found, ...told].filter((entry) => entry.group === group);
      return group === "pages" || sought.length > 0 ? all.slice(0, 12) : all.slice(0, most);
    });
  }, [entries, navigateTo, question, records.items]);
  const at = Math.min(place, Math.max(0, shown.length - 1));
  const box = useRef<HTMLUListElement>(null);
  useEffect(() => {
    box.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    // The dialog is gone by then, and gives the focus back before the action takes it.
    window.setTimeout(entry.run, 0);
  };
  const press = (event: React.KeyboardEvent) => {
    const steps: globalThis.Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1 + shown.length,
      Home: 0,
      End: shown.length - 1,
    };
    const next = steps[event.key];
    if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      run(shown[at]);
    } else if (next !== undefined && shown.length > 0 && !event.shiftKey) {
      event.preventDefault();
      setPlace(next % shown.length);
    }
  };
  return (
    <>
      <div className="border-line flex items-center gap-3 border-b px-4">
        <Search className="text-muted size-4 shrink-0" aria-hidden />
        <input
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={list}
          aria-activedescendant={shown[at] === undefined ? undefined : `${list}-${at}`}
          aria-autocomplete="list"
          aria-label={w("title")}
          placeholder={w("placeholder")}
          value={question}
          onChange={(event) => {
            setQuestion(event.target.value);
            setPlace(0);
          }}
          onKeyDown={press}
          className="placeholder:text-muted h-13 min-w-0 flex-1 bg-transparent text-[15px] outline-none"
        />
      </div>
      <ul
        ref={box}
        id={list}
        role="listbox"
        aria-label={w("results")}
        className="max-h-[56dvh] overflow-y-auto p-2"
      >
        {shown.map((entry, index) => {
          const Icon = ICONS[entry.group];
          const heading = entry.group !== shown[index - 1]?.group && w(`group.${entry.group}`);
          return [
            heading !== false && (
              <li
                key={heading}
                role="presentation"
                className="eyebrow px-2.5 pt-2.5 pb-1 first:pt-1"
              >
                {heading}
              </li>
            ),
            <li
              key={entry.id}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === at}
              className="aria-selected:bg-accent-soft aria-selected:text-accent-soft-foreground flex cursor-pointer items-center gap-3 rounded-lg px-2.5 py-2"
              onPointerMove={() => setPlace(index)}
              onClick={() => run(entry)}
            >
              <Icon className="size-4 shrink-0 opacity-70" aria-hidden />
              <span className="said line-clamp-1 min-w-0 flex-1">{entry.label}</span>
              {entry.note !== undefined && (
                <span className="caption said max-w-40 truncate">{entry.note}</span>
              )}
              {index === at && <CornerDownLeft className="size-3.5 opacity-60" aria-hidden />}
            </li>,
          ];
        })}
      </ul>
      {shown.length === 0 && (
        <p className="text-muted px-4 pb-6 text-center" role="status">
          {w(records.isLooking ? "searching" : "none")}
        </p>
      )}
      <p className="border-line caption border-t px-4 py-2.5">{w("hint")}</p>
    </>
  );
}

/** Return a function that goes to a page of the workspace. */
function useGo() {
  const navigate = useNavigate();
  const place = usePlace();
  return useMemo(() => {
    const base = `/org/${encodeURIComponent(place.org)}/ws/${encodeURIComponent(place.workspace)}`;
    const navigateTo = (page: string, search: globalThis.Record<string, string | undefined> = {}) => {
      const told = Object.entries(search).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      );
      const query = new URLSearchParams(told).toString();
      const options: NavigateOptions = { href: `${base}/${page}${query && `?${query}`}` };
      void navigate(options);
    };
    return { navigateTo };
  }, [navigate, place.org, place.workspace]);
}

/** Everything that can be gone to or done, besides single memories. */
function useEntries(onHelp: () => void): Entry[] {
  const { t, language, chooseLanguage } = useTranslation();
  const { w } = useWords(words);
  const [, chooseTheme] = useTheme();
  const who = useWho();
  const reach = useReach();
  const { navigateTo } = useGo();
  const { people, agents, sessions } = usePlaces();
  return useMemo(() => {
    const pages = SECTIONS.filter((section) => reach.isServer || !("isServer" in section)).map(
      ({ page, label }): Entry => ({
        id: `page ${page}`,
        group: "pages",
        label: t(label),
        also: page,
        run: () => navigateTo(page, { user: who.user, agent: who.agent }),
      }),
    );
    const action = (id: string, also: string, run: () => void): Entry => ({
      id: `action ${id}`,
      group: "actions",
      label: w(`do.${id}` as keyof typeof words.en),
      also,
      run,
    });
    const commands = COMMANDS.filter(
      (it) =>
        (reach.isServer || it.isServer !== true) &&
        (reach.isOperator || it.isAdmin !== true) &&
        (reach.canWrite || it.name !== "add"),
    ).map(({ name, to, also }) =>
      action(name, also, () =>
        runCommand(name, () => navigateTo(to, { user: who.user, agent: who.agent })),
      ),
    );
    return [
      ...pages,
      {
        id: "page knowledge",
        group: "pages",
        label: w("page.knowledge"),
        also: "documents 文档 知识",
        run: () => navigateTo("memory/knowledge", { user: who.user }),
      },
      {
        id: "page docs",
        group: "pages",
        label: w("page.docs"),
        also: "api docs 文档",
        run: () => window.location.assign("/docs"),
      },
      ...commands,
      ...(reach.isServer
        ? [action("connect", "mcp python http import 导入 接入", () => navigateTo("welcome"))]
        : []),
      action("shortcuts", "keyboard help 键盘 帮助", onHelp),
      action("light", "theme 主题 浅色", () => chooseTheme("light")),
      action("dark", "theme 主题 深色", () => chooseTheme("dark")),
      action("system", "theme 主题 系统", () => chooseTheme("system")),
      action("language", "language 语言 english chinese", () =>
        chooseLanguage(language === "zh" ? "en" : "zh"),
      ),
      ...people.flatMap((name): Entry[] => [
        {
          id: `person ${name}`,
          group: "people",
          label: name,
          run: () => navigateTo(`people/${encodeURIComponent(name)}`),
        },
      ]),
      ...agents.map(
        (name): Entry => ({
          id: `agent ${name}`,
          group: "agents",
          label: w("ask", { name }),
          also: "prompt",
          run: () => navigateTo("prompt", { agent: name, user: who.user }),
        }),
      ),
      ...sessions.map(
        (session): Entry => ({
          id: `session ${session.id} ${session.scope.user} ${session.scope.agent}`,
          group: "sessions",
          label: session.id,
          note: session.scope.user ?? undefined,
          run: () =>
            navigateTo(`sessions/${encodeURIComponent(session.id)}`, {
              user: session.scope.user ?? undefined,
              agent: session.scope.agent ?? undefined,
            }),
        }),
      ),
    ];
  }, [
    agents,
    chooseLanguage,
    chooseTheme,
    language,
    navigateTo,
    onHelp,
    people,
    reach,
    sessions,
    t,
    w,
    who,
  ]);
}
