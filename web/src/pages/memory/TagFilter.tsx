import { Button, Popover } from "@heroui/react";
import { ChevronDown } from "lucide-react";
import { useTranslation } from "../../i18n";
import type { Option } from "../../parts/Choice";
import { SearchList } from "../../parts/SearchList";

/** Chooses tags that a record must all have; typing narrows the list, or names another one. */
export function TagFilter({
  options,
  chosen,
  onChange,
}: {
  options: Option[];
  chosen: string[];
  onChange: (tags: string[]) => void;
}) {
  const { t } = useTranslation();
  const toggle = (tag: string) =>
    onChange(chosen.includes(tag) ? chosen.filter((one) => one !== tag) : [...chosen, tag]);
  const shown = chosen.length === 0 ? t("filter.anyTag") : chosen.join(" + ");
  return (
    <Popover>
      <Button
        variant="outline"
        size="sm"
        className="bg-field border-field-border text-foreground h-9 max-w-64 shrink-0 rounded-xl px-3 text-sm font-normal"
        aria-label={`${t("filter.tag")}: ${shown}`}
      >
        <span className="said truncate">{shown}</span>
        <ChevronDown className="text-muted size-4" aria-hidden />
      </Button>
      <Popover.Content placement="bottom start" className="w-64 p-2">
        <Popover.Dialog aria-label={t("filter.tag")} className="p-0">
          <SearchList
            isMany
            label={t("filter.tag")}
            placeholder={t("filter.findTag")}
            nothing={t("filter.noTags")}
            options={options}
            chosen={chosen}
            typedOption={(typed) => ({ id: typed, label: typed })}
            onToggle={toggle}
          />
        </Popover.Dialog>
      </Popover.Content>
    </Popover>
  );
}
