import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answer, api, type Record, type Schemas } from "../../api/client";
import { keys, scopeIn, useNames, useReach } from "../../api/queries";
import { usePlace, useWho } from "../../lib/place";

const MIN_LENGTH = 2;
const PAUSE_MS = 180;
const FOUND = 6;
const NONE: never[] = [];

/** The people, agents and sessions that can be gone to. */
export function usePlaces() {
  const place = usePlace();
  const reach = useReach();
  const owner = scopeIn(place, useWho(), reach);
  const people = useNames(place, "users").data?.items ?? NONE;
  const agents = useNames(place, "agents").data?.items ?? NONE;
  const sessions = useQuery({
    queryKey: [keys.live, "sessions", "palette", owner, reach.isOperator],
    queryFn: () =>
      answer(
        reach.isOperator
          ? api.GET("/v1/workspace/sessions", { params: { query: { ...place, limit: 100 } } })
          : api.GET("/v1/sessions", { params: { query: { ...owner, limit: 100 } } }),
      ),
  });
  const items: Schemas["SessionEntry"][] = sessions.data?.items ?? NONE;
  return {
    people: people.map((it) => it.name),
    agents: agents.map((it) => it.name),
    sessions: items,
  };
}

/** The memories that answer what is typed, a moment after the last key. */
export function useFoundRecords(question: string): { items: Record[]; isLooking: boolean } {
  const place = usePlace();
  const who = useWho();
  const reach = useReach();
  const [sought, setSought] = useState("");
  useEffect(() => {
    const timer = window.setTimeout(() => setSought(question.trim()), PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [question]);
  const found = useQuery({
    queryKey: [keys.live, "palette", place, who, sought, reach.isOperator],
    enabled: Array.from(sought).length >= MIN_LENGTH,
    queryFn: async (): Promise<Record[]> => {
      const body = {
        query: sought,
        limit: FOUND,
        min_score: 0.1,
        owners: ["record" as const],
        kind: [],
        category: [],
        facet: [],
        tags: [],
        status: [],
      };
      const recalled = (await answer(
        reach.isOperator
          ? api.POST("/v1/workspace/recall", { params: { query: { ...place, ...who } }, body })
          : api.POST("/v1/recall", { params: { query: scopeIn(place, who, reach) }, body }),
      )) as Schemas["Recalled"];
      return recalled.hits.flatMap((hit) => (hit.record === null ? [] : [hit.record]));
    },
  });
  return {
    items: found.data ?? NONE,
    isLooking: found.isFetching || sought !== question.trim(),
  };
}
