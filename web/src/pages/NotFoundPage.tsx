import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { useTranslation } from "../i18n";
import { EmptyState } from "../parts/feedback";

export function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <main className="grid min-h-dvh place-items-center">
      <EmptyState
        icon={Compass}
        title={t("notFound.title")}
        action={
          <Link to="/" className="ink-link">
            {t("notFound.back")}
          </Link>
        }
      >
        {t("notFound.lead")}
      </EmptyState>
    </main>
  );
}
