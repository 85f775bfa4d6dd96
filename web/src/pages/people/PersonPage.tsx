import { Button } from "@heroui/react";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { ArrowLeft, Download, ScanText, UserRoundX } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useNames, useReach } from "../../api/queries";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import type { PersonSearch } from "../../lib/address";
import { usePlace, useSetSearch } from "../../lib/place";
import { CardSkeletons } from "../../parts/feedback";
import { OnDemand } from "../../parts/OnDemand";
import { Page } from "../../parts/Page";
import { Segments } from "../../parts/Segments";
import { ProfileSources } from "./ProfileSources";
import { words } from "./words";

const Timeline = lazy(async () => ({ default: (await import("./Timeline")).Timeline }));
const Names = lazy(async () => ({ default: (await import("./Names")).Names }));
const Sessions = lazy(async () => ({ default: (await import("./Sessions")).Sessions }));
const Readers = lazy(async () => ({ default: (await import("./Readers")).Readers }));
const ForgetDialog = lazy(async () => ({
  default: (await import("../memory/ForgetDialog")).ForgetDialog,
}));

const VIEWS = ["profile", "timeline", "graph", "sessions", "readers"] as const;

/** All that is known of one person: where it comes from, what happened to it and who read it. */
export function PersonPage() {
  const { w } = useWords(words);
  const format = useFormat();
  const place = usePlace();
  const reach = useReach();
  const setSearch = useSetSearch();
  const { person = "" } = useParams({ strict: false });
  const search: PersonSearch = useSearch({ strict: false });
  const view = VIEWS.find((it) => it === search.view) ?? "profile";
  const people = useNames(place, "users");
  const contents = people.data?.items.find((it) => it.name === person)?.contents;
  const [isForgetting, setForgetting] = useState(false);
  const exportAll = () => {
    const address = new URLSearchParams({ ...place, user: person, agent: "-" });
    window.location.assign(`/v1/export?${address}`);
  };
  return (
    <Page
      title={person}
      lead={
        contents === undefined ? (
          w("personLead")
        ) : (
          <span className="number">
            {[
              w("records", { count: contents.records }),
              w("turns", { count: contents.turns }),
              w("sessions", { count: contents.sessions }),
              contents.last_active !== null &&
                w("active", { when: format.age(contents.last_active) }),
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
        )
      }
      actions={
        <>
          <Link
            to="/org/$org/ws/$workspace/prompt"
            params={place}
            search={{ user: person, agent: search.agent }}
            className="button button--secondary"
          >
            <ScanText aria-hidden />
            <span className="max-sm:sr-only">{w("ask")}</span>
          </Link>
          {reach.isOperator && (
            <>
              <Button variant="tertiary" onPress={exportAll}>
                <Download aria-hidden />
                <span className="max-sm:sr-only">{w("export")}</span>
              </Button>
              <Button variant="danger-soft" onPress={() => setForgetting(true)}>
                <UserRoundX aria-hidden />
                <span className="max-sm:sr-only">{w("forget")}</span>
              </Button>
            </>
          )}
        </>
      }
    >
      <nav className="mb-4 flex flex-wrap items-center gap-x-5 gap-y-2 text-[13px]">
        {reach.isOperator && (
          <Link
            to="/org/$org/ws/$workspace/people"
            params={place}
            className="ink-link flex items-center gap-1.5"
          >
            <ArrowLeft className="size-3.5" aria-hidden />
            {w("back")}
          </Link>
        )}
        <Link
          to="/org/$org/ws/$workspace/memory"
          params={place}
          search={{ user: person, agent: search.agent }}
          className="ink-link"
        >
          {w("memory")}
        </Link>
      </nav>
      <div className="-mx-4 mb-5 overflow-x-auto px-4 sm:mx-0 sm:px-0">
        <Segments
          className="w-max"
          value={view}
          options={VIEWS.map((id) => [id, w(`view.${id}`)])}
          onChange={(id) => setSearch({ view: id === "profile" ? undefined : id })}
        />
      </div>
      <Suspense fallback={<CardSkeletons count={3} />}>
        {view === "profile" ? (
          <ProfileSources person={person} agent={search.agent} />
        ) : view === "timeline" ? (
          <Timeline person={person} agent={search.agent} />
        ) : view === "graph" ? (
          <Names person={person} agent={search.agent} />
        ) : view === "sessions" ? (
          <Sessions person={person} agent={search.agent} />
        ) : (
          <Readers person={person} agent={search.agent} />
        )}
      </Suspense>
      <OnDemand isWanted={isForgetting}>
        <ForgetDialog
          isOpen={isForgetting}
          user={person}
          onClose={() => setForgetting(false)}
        />
      </OnDemand>
    </Page>
  );
}
