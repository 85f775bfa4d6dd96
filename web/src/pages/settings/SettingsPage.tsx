import { useReach, useWhoAmI } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { usePreference } from "../../lib/storage";
import { useTheme } from "../../lib/theme";
import { Choice } from "../../parts/Choice";
import { Field } from "../../parts/Field";
import { Page } from "../../parts/Page";
import { EffectiveSettings } from "./EffectiveSettings";
import { Keys } from "./Keys";

const LONGEST_NAME = 60;

/** How the console looks, who may get in, and which settings the server runs with. */
export function SettingsPage() {
  const { t } = useTranslation();
  const reach = useReach();
  return (
    <Page title={t("nav.settings")} lead={t("settings.lead")}>
      <div className="space-y-10">
        <Appearance />
        {reach.isOperator && <Keys />}
        {reach.isServer && <EffectiveSettings />}
        {!reach.isServer && <p className="text-muted">{t("reach.settings")}</p>}
      </div>
    </Page>
  );
}

function Appearance() {
  const { t, language, chooseLanguage } = useTranslation();
  const [theme, chooseTheme] = useTheme();
  const [person, choosePerson] = usePreference<string>("person", "");
  const me = useWhoAmI();
  return (
    <section aria-labelledby="appearance" className="mt-4">
      <h2 id="appearance" className="mb-3 text-base font-semibold">
        {t("settings.appearance")}
      </h2>
      <div className="panel grid gap-5 p-5 sm:grid-cols-2">
        <Choice
          label={t("menu.language")}
          value={language}
          options={[
            { id: "en", label: "English" },
            { id: "zh", label: "简体中文" },
          ]}
          onChange={chooseLanguage}
        />
        <Choice
          label={t("menu.theme")}
          value={theme}
          options={(["system", "light", "dark"] as const).map((id) => ({
            id,
            label: t(`theme.${id}`),
          }))}
          onChange={chooseTheme}
        />
        {me.data?.means === "open" && (
          <Field
            label={t("settings.person")}
            description={t("settings.personHint")}
            placeholder={t("author.local")}
            value={person}
            onChange={(name) => choosePerson(name.slice(0, LONGEST_NAME))}
          />
        )}
      </div>
    </section>
  );
}
