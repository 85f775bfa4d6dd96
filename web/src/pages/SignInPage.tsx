import { Button } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { answer, api, sendCsrfToken } from "../api/client";
import { useTranslation } from "../i18n";
import { CodeExample, explain } from "../parts/feedback";
import { Field } from "../parts/Field";
import { LanguageMenu, ThemeMenu } from "../parts/menus";

/** Asks for a key; the browser then keeps a cookie that scripts cannot read. */
export function SignInPage() {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false });
  const [key, setKey] = useState("");
  const [error, setError] = useState<string>();
  const [isWorking, setWorking] = useState(false);
  useEffect(() => {
    document.title = `${t("signIn.title")} · Recollect`;
  }, [t]);
  const signIn = async () => {
    setWorking(true);
    setError(undefined);
    try {
      const me = await answer(api.POST("/v1/sign-in", { body: { key: key.trim() } }));
      sendCsrfToken(me.csrf_token);
      queries.clear();
      // Only an address of this console: anything else would lead elsewhere.
      await navigate({ href: next?.startsWith("/org/") === true ? next : "/" });
    } catch (problem) {
      const { what, hint } = explain(problem, t);
      setError(`${what} ${hint}`);
    } finally {
      setWorking(false);
    }
  };
  return (
    <main className="bg-canvas grid min-h-dvh place-items-center p-6">
      <div className="w-full max-w-md">
        <div className="mb-3 flex justify-end">
          <LanguageMenu />
          <ThemeMenu />
        </div>
        <form
          className="panel p-8"
          onSubmit={(event) => {
            event.preventDefault();
            void signIn();
          }}
        >
          <img src="/favicon.svg" alt="" className="size-10" />
          <h1 className="mt-5 text-xl font-semibold tracking-tight">{t("signIn.title")}</h1>
          <p className="text-muted mt-1 mb-6 leading-relaxed">{t("signIn.lead")}</p>
          <Field
            label={t("signIn.key")}
            type="password"
            value={key}
            onChange={setKey}
            placeholder="rk_…"
            autoFocus
            isRequired
            {...(error === undefined ? {} : { error })}
          />
          <Button
            type="submit"
            fullWidth
            className="mt-5"
            isDisabled={key.trim() === ""}
            isPending={isWorking}
          >
            {t("signIn.enter")}
          </Button>
          <p className="caption mt-6">{t("signIn.make")}</p>
          <CodeExample text="recollect keys create console --role admin" />
        </form>
      </div>
    </main>
  );
}
