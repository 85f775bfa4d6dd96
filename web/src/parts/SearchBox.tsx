import { Button, Kbd } from "@heroui/react";
import { Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "../i18n";
import { useOnChange } from "../lib/changed";

const PAUSE_MS = 250;

/**
 * The box for a question, as the address has it; `/` puts the cursor there. An instant one asks
 * whenever the typing pauses.
 */
export function SearchBox({
  question,
  onSearch,
  label,
  placeholder,
  isInstant = false,
}: {
  question: string | undefined;
  onSearch: (question: string | undefined, isTyping?: boolean) => void;
  label: string;
  placeholder: string;
  isInstant?: boolean;
}) {
  const { t } = useTranslation();
  const [text, setText] = useState("");
  useOnChange([question], () => {
    if ((question ?? "") !== text.trim()) setText(question ?? "");
  });
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const type = (typed: string, isComposing: boolean) => {
    setText(typed);
    window.clearTimeout(timer.current);
    // What an input method has not finished is no word yet.
    if (!isInstant || isComposing) return;
    timer.current = window.setTimeout(() => {
      onSearch(typed.trim() === "" ? undefined : typed.trim(), true);
    }, PAUSE_MS);
  };
  const clear = () => {
    window.clearTimeout(timer.current);
    setText("");
    if (question !== undefined) onSearch(undefined);
  };
  return (
    <form
      role="search"
      className="relative"
      onSubmit={(event) => {
        event.preventDefault();
        window.clearTimeout(timer.current);
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
        onChange={(event) =>
          type(event.target.value, (event.nativeEvent as InputEvent).isComposing)
        }
        onCompositionEnd={(event) => type(event.currentTarget.value, false)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          clear();
          event.currentTarget.blur();
        }}
        aria-label={label}
        placeholder={placeholder}
        className="border-field-border bg-field placeholder:text-field-placeholder focus:border-accent focus:ring-accent/25 h-10 w-full rounded-xl border ps-11 pe-12 text-ellipsis sm:pe-24 text-[15px] transition outline-none focus:ring-4 [&::-webkit-search-cancel-button]:hidden"
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
