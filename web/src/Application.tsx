import { Toast } from "@heroui/react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { ApiProblem, onSignedOut } from "./api/client";
import { LanguageProvider } from "./i18n";
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

export function Application() {
  return (
    <QueryClientProvider client={queries}>
      <LanguageProvider>
        <RouterProvider router={router} />
        <Toast.Provider placement="bottom" />
      </LanguageProvider>
    </QueryClientProvider>
  );
}
