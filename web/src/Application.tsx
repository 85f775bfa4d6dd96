import { Toast } from "@heroui/react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect } from "react";
import { ApiProblem, namePerson, onSignedOut } from "./api/client";
import { LanguageProvider } from "./i18n";
import { onReconnected } from "./lib/connection";
import { usePreference } from "./lib/storage";
import { router } from "./router";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      // What the server refused, it refuses again; a connection may come back.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ApiProblem && error.status < 500),
    },
  },
});

onSignedOut(() => {
  const { pathname, href } = router.state.location;
  if (pathname !== "/sign-in") void router.navigate({ to: "/sign-in", search: { next: href } });
});

onReconnected(() => void queries.invalidateQueries());

export function Application() {
  const [person] = usePreference<string>("person", "");
  useEffect(() => namePerson(person.trim() || "local"), [person]);
  return (
    <QueryClientProvider client={queries}>
      <LanguageProvider>
        <RouterProvider router={router} />
        <Toast.Provider placement="bottom" />
      </LanguageProvider>
    </QueryClientProvider>
  );
}
