import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import { keys, useReach, useWhoAmI } from "../api/queries";
import { useTranslation } from "../i18n";
import { useFormat } from "../i18n/format";
import { usePlace } from "../lib/place";
import type { Option } from "./Choice";
import { SearchList } from "./SearchList";

/** Read `org/workspace`, or a workspace of this organisation. */
function placeOf(typed: string, org: string): string {
  const [first = "", second] = typed.split("/", 2).map((part) => part.trim());
  return second === undefined ? `${org}/${first}` : `${first}/${second}`;
}

/** The workspaces that a key reaches, with what they hold; another one can be named. */
export function WorkspaceList({ onGo }: { onGo: (org: string, workspace: string) => void }) {
  const { t } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const { isServer } = useReach();
  const me = useWhoAmI();
  const found = useQuery({
    queryKey: [keys.live, "workspaces"],
    enabled: isServer,
    queryFn: () => answer(api.GET("/v1/workspaces", { params: { query: { limit: 200 } } })),
  });
  const here = `${place.org}/${place.workspace}`;
  const listed: Option[] = isServer
    ? (found.data?.items ?? []).map(({ org, workspace, users, contents }) => ({
        id: `${org}/${workspace}`,
        label: `${org}/${workspace}`,
        note: t("workspace.holds", {
          records: format.number(contents.records),
          users: format.number(users),
        }),
      }))
    : (me.data?.workspaces ?? []).map((name) => ({ id: name, label: name }));
  const options = listed.some(({ id }) => id === here)
    ? listed
    : [{ id: here, label: here }, ...listed];
  return (
    <SearchList
      label={t("menu.workspace")}
      placeholder={t("workspace.find")}
      nothing={t("workspace.find")}
      options={options}
      chosen={[here]}
      typedOption={(typed) => {
        const id = placeOf(typed, place.org);
        const isWhole = id.split("/").every((part) => part !== "");
        return isWhole ? { id, label: t("workspace.new", { name: id }) } : null;
      }}
      onToggle={(id) => {
        const [org = "", workspace = ""] = id.split("/", 2);
        onGo(org, workspace);
      }}
    />
  );
}
