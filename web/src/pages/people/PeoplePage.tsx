import { Link, Navigate } from "@tanstack/react-router";
import { CircleUserRound, UsersRound } from "lucide-react";
import { useState } from "react";
import { scopeIn, useNames, useReach } from "../../api/queries";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import { usePlace, useWho } from "../../lib/place";
import { CardSkeletons, EmptyState, Loaded } from "../../parts/feedback";
import { Field } from "../../parts/Field";
import { Page } from "../../parts/Page";
import { words } from "./words";

// With fewer a search would only be in the way.
const MANY = 8;

/** Everybody whose memory is in the workspace; who sees one person only goes to that one. */
export function PeoplePage() {
  const { w } = useWords(words);
  const format = useFormat();
  const place = usePlace();
  const who = useWho();
  const reach = useReach();
  const people = useNames(place, "users");
  const [sought, setSought] = useState("");
  const person = scopeIn(place, who, reach).user;
  if (!reach.isOperator && person !== "-") {
    return (
      <Navigate
        to="/org/$org/ws/$workspace/people/$person"
        params={{ ...place, person }}
        search={who}
        replace
      />
    );
  }
  const all = people.data?.items ?? [];
  const shown = all.filter((it) => it.name.toLowerCase().includes(sought.trim().toLowerCase()));
  return (
    <Page title={w("title")} lead={w("lead")}>
      {!reach.isOperator ? (
        <EmptyState icon={UsersRound} title={w("none")}>
          {w("noneLead")}
        </EmptyState>
      ) : (
        <Loaded query={people} waiting={<CardSkeletons count={3} />}>
          {() =>
            all.length === 0 ? (
              <EmptyState icon={UsersRound} title={w("none")}>
                {w("noneLead")}
              </EmptyState>
            ) : (
              <>
                {all.length > MANY && (
                  <Field
                    className="mb-4 max-w-sm"
                    label={w("find")}
                    value={sought}
                    onChange={setSought}
                  />
                )}
                {shown.length === 0 && <p className="text-muted">{w("noneFound")}</p>}
                <ul className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-3">
                  {shown.map(({ name, contents }) => (
                    <li key={name}>
                      <Link
                        to="/org/$org/ws/$workspace/people/$person"
                        params={{ ...place, person: name }}
                        className="panel focusable hover:border-border-tertiary flex items-center gap-3.5 p-4"
                      >
                        <span className="bg-accent-soft text-accent-soft-foreground grid size-10 shrink-0 place-items-center rounded-xl">
                          <CircleUserRound className="size-5" aria-hidden />
                        </span>
                        <span className="min-w-0 flex-1">
                          <span className="said block truncate font-semibold">{name}</span>
                          <span className="caption number block">
                            {w("records", { count: contents.records })} ·{" "}
                            {w("sessions", { count: contents.sessions })}
                          </span>
                          {contents.last_active !== null && (
                            <span className="caption block">
                              {w("active", { when: format.age(contents.last_active) })}
                            </span>
                          )}
                        </span>
                      </Link>
                    </li>
                  ))}
                </ul>
              </>
            )
          }
        </Loaded>
      )}
    </Page>
  );
}
