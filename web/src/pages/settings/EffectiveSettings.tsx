import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { useTranslation } from "../../i18n";
import { describedSetting } from "../../i18n/server";
import { Loaded } from "../../parts/feedback";
import { Field } from "../../parts/Field";

type Setting = Schemas["Setting"];

/** The settings that the server runs with, and where each comes from. */
export function EffectiveSettings() {
  const { t, named } = useTranslation();
  const [wanted, setWanted] = useState("");
  const found = useQuery({
    queryKey: ["settings"],
    queryFn: () => answer(api.GET("/v1/settings")),
  });
  const groups = useMemo(() => {
    const sections = new Map<string, Setting[]>();
    for (const setting of found.data?.items ?? []) {
      if (!setting.name.toLowerCase().includes(wanted.trim().toLowerCase())) continue;
      const section = setting.name.includes(".") ? (setting.name.split(".")[0] ?? "") : "";
      sections.set(section, [...(sections.get(section) ?? []), setting]);
    }
    return [...sections];
  }, [found.data, wanted]);
  return (
    <section aria-labelledby="effective">
      <div className="mb-3 flex flex-wrap items-end justify-between gap-4">
        <div className="min-w-0">
          <h2 id="effective" className="text-base font-semibold">
            {t("settings.effective")}
          </h2>
          <p className="text-muted">{t("settings.effectiveLead")}</p>
          {found.data !== undefined && <p className="caption said font-mono">{found.data.file}</p>}
        </div>
        <div className="w-full sm:w-56">
          <Field label={t("settings.find")} value={wanted} onChange={setWanted} />
        </div>
      </div>
      <Loaded query={found}>
        {() => (
          <div className="space-y-4">
            {groups.map(([section, settings]) => (
              <div key={section} className="panel overflow-hidden">
                {section !== "" && (
                  <h3 className="bg-canvas border-line border-b px-5 py-2 font-mono text-xs font-medium">
                    {section}
                  </h3>
                )}
                <dl className="divide-line divide-y">
                  {settings.map((setting) => (
                    <div
                      key={setting.name}
                      className="grid gap-x-6 gap-y-1 px-5 py-3 sm:grid-cols-[1fr_1fr]"
                    >
                      <dt className="min-w-0">
                        <span className="said font-mono text-[13px]">{setting.name}</span>
                        <span className="caption said block">{describedSetting(setting.description)}</span>
                      </dt>
                      <dd className="min-w-0 sm:text-end">
                        <code className="said font-mono text-[13px]">{shown(setting.value)}</code>
                        <span className="caption block">
                          {named("origin", setting.origin)}
                          {setting.origin === "environment" && ` ${setting.variable}`}
                        </span>
                      </dd>
                    </div>
                  ))}
                </dl>
              </div>
            ))}
          </div>
        )}
      </Loaded>
    </section>
  );
}

function shown(value: unknown): string {
  if (value === null || value === "") return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
