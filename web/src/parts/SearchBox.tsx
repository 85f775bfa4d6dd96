import { Button, Kbd } from "@heroui/react";
import { Search, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "../i18n";
import { useOnChange } from "../lib/changed";

/** The box for a question, as the address has it; `/` puts the cursor there. */
export function SearchBox({
  question,
  onSearch,
  label,
  placeholder,
}: {
  question: string | undefined;
  onSearch: (question: string | undefined) => void;
  label: string;
  placeholder: string;
}) {
  const { t } = useTranslation();
  const [text, setText] = useState("");
  useOnChange([question], () => setText(question ?? ""));
  const clear = () => {
    setText("");
    if (question !== undefined) onSearch(undefined);
  };
  return (
    <form
      role="search"
      className="relative"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(text.trim() === "" ? undefined : text.trim());
      }}
    >
      <Search
        className="text-muted pointer-events-none absolute start-4 top-1/2 size-[18px] -translate-y-1/2"
        aria-hidden
      />
      <input
        data-search-box
        type="search"
        dir="auto"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          clear();
          event.currentTarget.blur();
        }}
        aria-label={label}
        placeholder={placeholder}
        className="border-field-border bg-field placeholder:text-field-placeholder focus:border-accent focus:ring-accent/25 h-12 w-full rounded-2xl border ps-11 pe-12 text-ellipsis sm:pe-24 text-[15px] transition outline-none focus:ring-4 [&::-webkit-search-cancel-button]:hidden"
      />
      <div className="absolute end-3 top-1/2 flex -translate-y-1/2 items-center gap-2">
        {text !== "" && (
          <Button
            isIconOnly
            size="sm"
            variant="ghost"
            aria-label={t("search.clear")}
            onPress={clear}
          >
            <X aria-hidden />
          </Button>
        )}
        <Kbd className="hidden sm:inline-flex">/</Kbd>
      </div>
    </form>
  );
}
