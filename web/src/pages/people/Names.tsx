import { useQuery } from "@tanstack/react-query";
import { Waypoints } from "lucide-react";
import { useMemo, useState } from "react";
import { answer, api } from "../../api/client";
import { keys, scopeIn, useReach } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { usePlace } from "../../lib/place";
import { EmptyState, Loaded } from "../../parts/feedback";
import { Segments } from "../../parts/Segments";
import { useMedia } from "../../lib/media";
import { NameFacts } from "./NameFacts";
import { NameList } from "./NameList";
import { NamePicture } from "./NamePicture";
import type { OfPerson } from "./ProfileSources";
import { words } from "./words";

/** The people and things that a person's memory tells of: as a picture or a list, with their facts. */
export function Names({ person, agent }: OfPerson) {
  const { w } = useWords(words);
  const place = usePlace();
  const reach = useReach();
  const isWide = useMedia("(min-width: 640px)");
  const [chosen, setChosen] = useState<string | null>(null);
  const [wanted, setWanted] = useState<"picture" | "list" | null>(null);
  const view = wanted ?? (isWide ? "picture" : "list");
  const found = useQuery({
    queryKey: [keys.live, "graph", place, person, agent, reach],
    queryFn: () =>
      answer(
        reach.isOperator
          ? api.GET("/v1/workspace/graph", {
              params: { query: { ...place, user: person, agent, limit: 200 } },
            })
          : api.GET("/v1/graph", {
              params: {
                query: { ...scopeIn(place, { user: person, agent }, reach), limit: 200 },
              },
            }),
      ),
  });
  const graph = found.data;
  const selected = useMemo(
    () => graph?.names.find((it) => it.name === chosen) ?? null,
    [chosen, graph],
  );
  return (
    <Loaded query={found}>
      {(data) =>
        data.names.length === 0 ? (
          <EmptyState icon={Waypoints} title={w("graphNone")}>
            {w("graphNoneLead")}
          </EmptyState>
        ) : (
          <>
            <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
              <Segments
                value={view}
                options={[
                  ["picture", w("asPicture")],
                  ["list", w("asList")],
                ]}
                onChange={setWanted}
              />
              <p className="caption">
                {view === "picture" && w("graphHint")}
                {data.more > 0 && ` ${w("graphMore", { count: data.more })}`}
              </p>
            </div>
            <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]">
              {view === "picture" ? (
                <NamePicture
                  graph={data}
                  person={person}
                  chosen={chosen}
                  onChoose={setChosen}
                />
              ) : (
                <NameList graph={data} chosen={chosen} onChoose={setChosen} />
              )}
              <NameFacts
                graph={data}
                name={selected}
                person={person}
                onChoose={setChosen}
              />
            </div>
          </>
        )
      }
    </Loaded>
  );
}
