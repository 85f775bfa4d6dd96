import { Brain, Clock, Users, Workflow, type LucideIcon } from "lucide-react";
import type { Face } from "../api/place";
import { useTranslation } from "../i18n";

const FACES: globalThis.Record<Face, { icon: LucideIcon; tone: string }> = {
  semantic: { icon: Brain, tone: "bg-semantic-soft text-semantic" },
  episodic: { icon: Clock, tone: "bg-episodic-soft text-episodic" },
  procedural: { icon: Workflow, tone: "bg-procedural-soft text-procedural" },
  shared: { icon: Users, tone: "bg-shared-soft text-shared" },
};

export function FaceIcon({ face, className = "size-8" }: { face: Face; className?: string }) {
  const { icon: Icon, tone } = FACES[face];
  return (
    <span className={`${tone} ${className} grid shrink-0 place-items-center rounded-xl`} aria-hidden>
      <Icon className="size-4" strokeWidth={2} />
    </span>
  );
}

/** The name of a face; a plain one has no icon where another stands beside it. */
export function FaceBadge({ face, isPlain = false }: { face: Face; isPlain?: boolean }) {
  const { t } = useTranslation();
  const { icon: Icon, tone } = FACES[face];
  return (
    <span
      className={`${tone} inline-flex items-center gap-1.5 rounded-full px-2.5 py-0.5 text-xs font-medium`}
    >
      <Icon className={`size-3.5 ${isPlain ? "sm:hidden" : ""}`} strokeWidth={2.2} aria-hidden />
      {t(`face.${face}`)}
    </span>
  );
}
