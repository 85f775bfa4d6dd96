import { Button, Disclosure, Switch, toast } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import { refreshEverything } from "../../api/cache";
import { answer, api } from "../../api/client";
import { useTranslation } from "../../i18n";
import { Choice } from "../../parts/Choice";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { useAttempt } from "../../parts/feedback";
import { Field } from "../../parts/Field";
import { isSamePlace, isWhole, movePlace, placeOf, wantedPlace, type Agent, type Place } from "./place";
import { PlaceFields } from "./PlaceFields";

type Policy = NonNullable<Agent["write_policy"]>;

const AS_FOR_ALL = "*all";
const MOST_PREFETCHED = 1000;
const POLICIES: Policy[] = ["auto", "explicit", "off"];

/** The memory settings of one agent: on or off, where it is kept, how much is looked up. */
export function AgentDialog({
  name,
  agent,
  hasMemory,
  onClose,
}: {
  name: string;
  agent?: Agent;
  /** Then another store means that its memory is moved there. */
  hasMemory: boolean;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const { attempt, isWorking } = useAttempt();
  const [chosenName, setChosenName] = useState(name);
  const [isEnabled, setEnabled] = useState(agent?.enabled ?? true);
  const [chosenPlace, setPlace] = useState<Place>();
  const [prefetch, setPrefetch] = useState(agent?.prefetch_limit?.toString() ?? "");
  const [policy, setPolicy] = useState<string>(agent?.write_policy ?? AS_FOR_ALL);
  const [role, setRole] = useState(agent?.role ?? "");
  const [isTried, setTried] = useState(false);
  const settings = useQuery({
    queryKey: ["settings"],
    queryFn: () => answer(api.GET("/v1/settings")),
    retry: false,
  });
  const stores = [
    ...new Set(
      (settings.data?.items ?? [])
        .filter((setting) => setting.name.startsWith("stores."))
        .map((setting) => setting.name.split(".")[1] ?? ""),
    ),
  ];
  const before = placeOf(agent, chosenName.trim(), stores);
  const place = chosenPlace ?? before;
  const isMove = hasMemory && !isSamePlace(place, before);
  const limit = Number(prefetch);
  const isLimitWrong =
    prefetch.trim() !== "" && (!Number.isInteger(limit) || limit < 1 || limit > MOST_PREFETCHED);
  const isNameMissing = chosenName.trim() === "";

  const work = (deed: () => Promise<unknown>, done: string) =>
    void attempt(async () => {
      await deed();
      await refreshEverything(queries);
      toast.success(done);
      onClose();
    });
  const path = { name: chosenName.trim() };
  const keep = () =>
    answer(
      api.PUT("/v1/agents/{name}", {
        params: { path },
        body: {
          ...(isMove ? wantedPlace(before) : wantedPlace(place)),
          // The server knows the store where it is by the name that it told.
          ...(isSamePlace(place, before) || isMove ? { store: agent?.store ?? "" } : {}),
          enabled: isEnabled,
          prefetch_limit: prefetch.trim() === "" ? null : limit,
          write_policy: policy === AS_FOR_ALL ? null : (policy as Policy),
          role: role.trim() === "" ? null : role.trim(),
          children: agent === undefined || agent.children.length === 0 ? null : agent.children,
        },
      }),
    );
  const save = () => {
    setTried(true);
    if (isNameMissing || isLimitWrong || !isWhole(place)) return;
    work(
      async () => {
        await keep();
        if (isMove) await movePlace(path.name, place);
      },
      isMove ? t("agents.moveBegun", { name: path.name }) : t("agents.saved"),
    );
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={name === "" ? t("agents.new") : t("agents.configureTitle", { name })}
      footer={
        <>
          {agent?.origin === "database" && (
            <Button
              variant="ghost"
              className="me-auto"
              onPress={() =>
                work(
                  () => answer(api.DELETE("/v1/agents/{name}", { params: { path } })),
                  t("agents.wasReset"),
                )
              }
            >
              {t("agents.reset")}
            </Button>
          )}
          <DialogButtons
            onCancel={onClose}
            onConfirm={save}
            label={t(isMove ? "agents.saveAndMove" : "action.save")}
            isDisabled={!isWhole(place)}
            isPending={isWorking}
          />
        </>
      }
    >
      <div className="space-y-5 py-1">
        {name === "" && (
          <Field
            label={t("agents.name")}
            value={chosenName}
            onChange={setChosenName}
            autoFocus
            isRequired
            {...(isTried && isNameMissing ? { error: t("agents.nameNeeded") } : {})}
          />
        )}
        <Switch isSelected={isEnabled} onChange={setEnabled} className="items-start">
          <Switch.Content>
            <Switch.Control>
              <Switch.Thumb />
            </Switch.Control>
            <span>
              <span className="block font-medium">{t("agents.enabled")}</span>
              <span className="caption block">{t("agents.enabledHint")}</span>
            </span>
          </Switch.Content>
        </Switch>
        <PlaceFields name={path.name} place={place} stores={stores} onChange={setPlace} />
        {isMove && <p className="caption">{t("agents.moveLead")}</p>}
        <Disclosure defaultExpanded={isLimitWrong}>
          <Disclosure.Heading>
            <Disclosure.Trigger className="focusable flex w-full cursor-pointer items-center gap-2 rounded-md py-1 text-start font-medium">
              {t("agents.advanced")}
              <Disclosure.Indicator className="text-muted ms-auto size-4">
                <ChevronDown />
              </Disclosure.Indicator>
            </Disclosure.Trigger>
          </Disclosure.Heading>
          <Disclosure.Content>
            <Disclosure.Body className="space-y-4 pt-3">
              <Field
                label={t("agents.prefetch")}
                description={t("agents.prefetchHint")}
                value={prefetch}
                onChange={setPrefetch}
                {...(isLimitWrong ? { error: t("agents.prefetchWrong") } : {})}
              />
              <Choice
                label={t("agents.policy")}
                value={policy}
                options={[
                  { id: AS_FOR_ALL, label: t("agents.policyDefault") },
                  ...POLICIES.map((id) => ({ id, label: id })),
                ]}
                onChange={setPolicy}
              />
              <Field
                label={t("agents.role")}
                description={t("agents.roleHint")}
                value={role}
                onChange={setRole}
              />
            </Disclosure.Body>
          </Disclosure.Content>
        </Disclosure>
      </div>
    </Dialog>
  );
}
