import { Button } from "@heroui/react";
import { CircleCheck, PlugZap, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "../../i18n";
import { Choice } from "../../parts/Choice";
import { explain } from "../../parts/feedback";
import { Field } from "../../parts/Field";
import { COMMON, isWhole, kindsOf, storeOf, tryPlace, wantedPlace, type Place } from "./place";

/** Where an agent's memory is kept, and whether that can be reached. */
export function PlaceFields({
  name,
  place,
  stores,
  onChange,
}: {
  name: string;
  place: Place;
  stores: string[];
  onChange: (place: Place) => void;
}) {
  const { t } = useTranslation();
  const isServer = place.kind === "postgresql" || place.kind === "mysql";
  const labelOf = (kind: string) =>
    storeOf(kind) ??
    (kind === COMMON ? t("agents.common") : t(`agents.backend.${kind as "postgresql"}`));
  return (
    <div className="space-y-3">
      <Choice
        label={t("agents.store")}
        description={t("agents.storeHint")}
        value={place.kind}
        options={kindsOf(stores).map((id) => ({ id, label: labelOf(id) }))}
        onChange={(kind) => onChange({ ...place, kind })}
      />
      {isServer && (
        <>
          <Field
            label={t("agents.url")}
            description={t("agents.urlHint")}
            placeholder={`${place.kind}://recollect@db.example/memory`}
            value={place.url}
            onChange={(url) => onChange({ ...place, url })}
            isRequired
          />
          <Field
            label={t("agents.password")}
            description={t("agents.passwordHint")}
            placeholder="RECOLLECT_PASSWORD_AGENTS"
            value={place.passwordEnv}
            onChange={(passwordEnv) => onChange({ ...place, passwordEnv })}
          />
        </>
      )}
      {place.kind === "sqlite" && (
        <Field
          label={t("agents.file")}
          description={t("agents.fileHint")}
          value={place.file}
          onChange={(file) => onChange({ ...place, file })}
          isRequired
        />
      )}
      {place.kind !== COMMON && <ConnectionTest name={name} place={place} />}
    </div>
  );
}

function ConnectionTest({ name, place }: { name: string; place: Place }) {
  const { t } = useTranslation();
  const [isTesting, setTesting] = useState(false);
  const [found, setFound] = useState<{ tested: string; error: unknown }>();
  const tested = JSON.stringify(wantedPlace(place));
  const test = async () => {
    setTesting(true);
    try {
      await tryPlace(name, place);
      setFound({ tested, error: null });
    } catch (error) {
      setFound({ tested, error });
    } finally {
      setTesting(false);
    }
  };
  const told = found?.tested === tested ? found : undefined;
  const wrong = told === undefined || told.error === null ? null : explain(told.error, t);
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
      <Button
        size="sm"
        variant="secondary"
        isPending={isTesting}
        isDisabled={name === "" || !isWhole(place)}
        onPress={() => void test()}
      >
        <PlugZap aria-hidden />
        {t("agents.test")}
      </Button>
      <p role="status" className="said flex min-w-0 flex-1 basis-52 items-start gap-1.5 py-1.5">
        {told !== undefined && wrong === null && (
          <>
            <CircleCheck className="text-procedural mt-0.5 size-4 shrink-0" aria-hidden />
            {t("agents.reached")}
          </>
        )}
        {wrong !== null && (
          <>
            <TriangleAlert className="text-danger mt-0.5 size-4 shrink-0" aria-hidden />
            <span className="min-w-0">
              {wrong.what} <span className="text-muted">{wrong.hint}</span>
            </span>
          </>
        )}
      </p>
    </div>
  );
}
