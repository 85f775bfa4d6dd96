import { Button } from "@heroui/react";
import type { ReactNode } from "react";
import { useTranslation } from "../i18n";

/** Switches between the views of one thing. */
export function Segments<Id extends string>({
  value,
  options,
  onChange,
  className = "",
}: {
  value: Id;
  options: [Id, ReactNode][];
  onChange: (id: Id) => void;
  className?: string;
}) {
  const { t } = useTranslation();
  return (
    <div
      role="group"
      aria-label={t("view.label")}
      className={`bg-default flex rounded-xl p-0.5 ${className}`}
    >
      {options.map(([id, label]) => (
        <Button
          key={id}
          size="sm"
          variant={id === value ? "outline" : "ghost"}
          className={id === value ? "bg-surface" : ""}
          aria-pressed={id === value}
          onPress={() => onChange(id)}
        >
          {label}
        </Button>
      ))}
    </div>
  );
}
