import { Button } from "@heroui/react";
import { ChevronsUpDown, CircleUserRound } from "lucide-react";
import { useState } from "react";
import { scopeIn, useReach } from "../api/queries";
import { useTranslation } from "../i18n";
import { usePlace, useSetSearch, useWho } from "../lib/place";
import { Dialog, DialogButtons } from "./Dialog";
import { NameField } from "./NameField";

/** Names one person and one agent, for a key that is not told who there is. */
export function ScopeMenu() {
  const { t } = useTranslation();
  const reach = useReach();
  const who = useWho();
  const place = usePlace();
  const setSearch = useSetSearch();
  const shown = scopeIn(place, who, reach);
  const [isOpen, setOpen] = useState(false);
  const [user, setUser] = useState("");
  const [agent, setAgent] = useState("");
  const open = () => {
    setUser(shown.user === "-" ? "" : shown.user);
    setAgent(shown.agent === "-" ? "" : shown.agent);
    setOpen(true);
  };
  const show = () => {
    setOpen(false);
    setSearch({
      user: user.trim() === "" ? undefined : user.trim(),
      agent: agent.trim() === "" ? undefined : agent.trim(),
      record: undefined,
    });
  };
  const name = shown.user === "-" ? t("person.nobody") : shown.user;
  return (
    <>
      <Button
        variant="ghost"
        size="sm"
        className="max-w-[14rem] min-w-0"
        aria-label={`${t("menu.person")}: ${name}`}
        onPress={open}
      >
        <CircleUserRound aria-hidden />
        <span className="said truncate">{name}</span>
        <ChevronsUpDown className="text-muted" aria-hidden />
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t("person.choose")}
        lead={reach.users.length === 0 ? t("person.chooseLead") : undefined}
        footer={
          <DialogButtons
            onCancel={() => setOpen(false)}
            onConfirm={show}
            label={t("person.show")}
          />
        }
      >
        <form
          className="grid gap-4 py-1 sm:grid-cols-2"
          onSubmit={(event) => {
            event.preventDefault();
            show();
          }}
        >
          <NameField
            label={t("person.name")}
            hint={t("person.none")}
            allowed={reach.users}
            value={user}
            onChange={setUser}
          />
          <NameField
            label={t("person.agent")}
            hint={t("person.noAgent")}
            allowed={reach.agents}
            value={agent}
            onChange={setAgent}
          />
          <button type="submit" className="hidden" aria-hidden tabIndex={-1} />
        </form>
      </Dialog>
    </>
  );
}
