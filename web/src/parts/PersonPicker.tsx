import { Button, Popover } from "@heroui/react";
import { ChevronsUpDown, CircleUserRound, UsersRound } from "lucide-react";
import { useState } from "react";
import { useNames } from "../api/queries";
import { useTranslation } from "../i18n";
import { useFormat } from "../i18n/format";
import { usePlace, useSetSearch, useWho } from "../lib/place";
import { SearchList } from "./SearchList";

const EVERYONE = "*everyone";

/** One person's memory, or everybody's, for who looks into the whole workspace. */
export function PersonPicker() {
  const { t } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const { user } = useWho();
  const users = useNames(place, "users").data?.items ?? [];
  const setSearch = useSetSearch();
  const [isOpen, setOpen] = useState(false);
  const Icon = user === undefined ? UsersRound : CircleUserRound;
  const known = users.map(({ name, contents }) => ({
    id: name,
    label: name,
    note: format.number(contents.records),
  }));
  const isMissing = user !== undefined && users.every(({ name }) => name !== user);
  return (
    <Popover isOpen={isOpen} onOpenChange={setOpen}>
      <Button
        variant="ghost"
        size="sm"
        className="max-w-[14rem] min-w-0"
        aria-label={`${t("menu.person")}: ${user ?? t("person.everyone")}`}
      >
        <Icon aria-hidden />
        <span className="said truncate">{user ?? t("person.everyone")}</span>
        <ChevronsUpDown className="text-muted" aria-hidden />
      </Button>
      <Popover.Content placement="bottom start" className="w-72 p-2">
        <Popover.Dialog aria-label={t("menu.person")} className="p-0">
          <SearchList
            label={t("menu.person")}
            placeholder={t("person.find")}
            nothing={t("person.nobodyFound")}
            options={[
              { id: EVERYONE, label: t("person.everyone") },
              ...(isMissing ? [{ id: user, label: user }] : []),
              ...known,
            ]}
            chosen={[user ?? EVERYONE]}
            typedOption={(typed) => ({ id: typed, label: typed })}
            onToggle={(name) => {
              setOpen(false);
              setSearch({ user: name === EVERYONE ? undefined : name, record: undefined });
            }}
          />
        </Popover.Dialog>
      </Popover.Content>
    </Popover>
  );
}
