// SPDX-License-Identifier: Apache-2.0
// Test host: reads, changes and writes pictures with OpenCV's C++ calls and prints sums of the
// pixels. usage: hooks_opencv FOLDER [errors]. Run by test_hooks_opencv.py.
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <cstdio>
#include <string>
#include <vector>

static void print(const char *what, const cv::Mat &m)
{
    unsigned long sum = 0;
    for (int y = 0; y < m.rows; y++) {
        const unsigned char *row = m.ptr(y);
        for (size_t x = 0; x < m.cols * m.elemSize(); x++)
            sum = sum * 31 + row[x];
    }
    std::printf("%s: %d x %d x %d: %lu\n", what, m.cols, m.rows, m.channels(), sum);
}

static cv::Mat drawn()
{
    cv::Mat m(800, 1200, CV_8UC3);
    for (int y = 0; y < m.rows; y++) {
        for (int x = 0; x < m.cols * 3; x++)
            m.ptr(y)[x] = (unsigned char)(x / 7 + y / 3 + (x * y >> 12));
    }
    cv::rectangle(m, cv::Point(100, 100), cv::Point(500, 400), cv::Scalar(255, 255, 255), -1);
    cv::circle(m, cv::Point(900, 500), 150, cv::Scalar(0, 0, 0), -1);
    return m;
}

static void files(const std::string &folder)
{
    cv::Mat m = drawn();
    std::vector<unsigned char> bytes;
    cv::imwrite(folder + "/a.jpg", m);
    cv::imencode(".jpg", m, bytes, {cv::IMWRITE_JPEG_QUALITY, 80});
    std::printf("%zu bytes\n", bytes.size());
    print("imread", cv::imread(folder + "/a.jpg"));
    print("reduced", cv::imread(folder + "/a.jpg", cv::IMREAD_REDUCED_GRAYSCALE_2));
    print("missing", cv::imread(folder + "/missing.jpg"));
    print("vector", cv::imdecode(bytes, cv::IMREAD_COLOR));
    cv::Mat into;
    cv::imdecode(cv::Mat(1, (int)bytes.size(), CV_8U, bytes.data()), cv::IMREAD_GRAYSCALE, &into);
    print("into", into);
    std::vector<cv::Mat> pages;
    std::printf("%d pages\n", (int)cv::imreadmulti(folder + "/a.jpg", pages, cv::IMREAD_COLOR));
}

static void geometry(const cv::Mat &m)
{
    cv::Mat out, half;
    cv::resize(m, half, cv::Size(600, 400), 0, 0, cv::INTER_AREA);
    print("resize", half);
    cv::resize(m, out, cv::Size(), 0.25, 0.75, cv::INTER_LINEAR);
    print("resize by factors", out);
    cv::Mat turn = cv::getRotationMatrix2D(cv::Point2f(600, 400), 30, 0.5);
    cv::warpAffine(m, out, turn, cv::Size(500, 300), cv::INTER_LINEAR, cv::BORDER_CONSTANT,
        cv::Scalar(1, 2, 3));
    print("warpAffine", out);
    cv::Mat full = cv::Mat::eye(3, 3, CV_64F);
    full.at<double>(2, 0) = 0.0003;
    cv::warpPerspective(m, out, full, cv::Size(700, 500));
    print("warpPerspective", out);
    cv::copyMakeBorder(m, out, 10, 20, 30, 40, cv::BORDER_CONSTANT, cv::Scalar(9, 8, 7));
    print("copyMakeBorder", out);
}

static void filters(const cv::Mat &m)
{
    cv::Mat grey, out, mask;
    cv::cvtColor(m, grey, cv::COLOR_BGR2GRAY);
    print("cvtColor", grey);
    cv::GaussianBlur(grey, out, cv::Size(7, 7), 1.5, 2.5);
    print("GaussianBlur", out);
    cv::blur(grey, out, cv::Size(5, 3), cv::Point(1, 1));
    print("blur", out);
    cv::medianBlur(grey, out, 5);
    print("medianBlur", out);
    cv::bilateralFilter(grey(cv::Rect(0, 0, 200, 200)), out, 5, 20, 30);
    print("bilateralFilter", out);
    cv::filter2D(grey, out, -1, cv::Mat::ones(3, 3, CV_32F) / 9, cv::Point(-1, -1), 2.5);
    print("filter2D", out);
    cv::Sobel(grey, out, CV_16S, 1, 0, 3, 2.0, 1.0);
    print("Sobel", out);
    cv::Canny(grey, out, 50, 150, 3, true);
    print("Canny", out);
    double level = cv::threshold(grey, mask, 0, 255, cv::THRESH_BINARY | cv::THRESH_OTSU);
    std::printf("level %.3f\n", level);
    cv::adaptiveThreshold(grey, out, 255, cv::ADAPTIVE_THRESH_MEAN_C, cv::THRESH_BINARY, 31, 2.5);
    print("adaptiveThreshold", out);
    cv::morphologyEx(mask, out, cv::MORPH_OPEN, cv::Mat(), cv::Point(-1, -1), 2);
    print("morphologyEx", out);
    cv::equalizeHist(grey, out);
    print("equalizeHist", out);
    grey.convertTo(out, CV_32F, 1 / 255.0, -0.5);
    print("convertTo", out);
}

static void findings(const cv::Mat &m)
{
    cv::Mat grey, mask, labels, stats, middles;
    cv::cvtColor(m, grey, cv::COLOR_BGR2GRAY);
    cv::threshold(grey, mask, 250, 255, cv::THRESH_BINARY);
    std::vector<std::vector<cv::Point>> contours;
    std::vector<cv::Vec4i> tree;
    cv::findContours(mask, contours, tree, cv::RETR_LIST, cv::CHAIN_APPROX_SIMPLE, cv::Point(3, 4));
    std::printf("%zu contours\n", contours.size());
    for (const auto &contour : contours) {
        if (contour.size() < 3)
            continue;
        cv::RotatedRect r = cv::minAreaRect(contour);
        std::printf("%.1f %.1f %.1f %.2f %.2f\n", r.center.x, r.center.y, r.angle,
            cv::contourArea(contour), cv::arcLength(contour, true));
    }
    std::printf("%d parts\n", cv::connectedComponentsWithStats(mask, labels, stats, middles, 4));
    std::printf("%d parts\n", cv::connectedComponents(mask, labels, 8));
    cv::Mat out = m.clone();
    cv::drawContours(out, contours, -1, cv::Scalar(0, 255, 0), 2);
    print("drawContours", out);
}

// Exceptions of OpenCV come through the hooks whole.
static void errors(int count)
{
    int caught = 0;
    cv::Mat empty, out, m(40, 40, CV_8UC3, cv::Scalar(1, 2, 3));
    for (int i = 0; i < count; i++) {
        try {
            if (i % 3 == 0)
                cv::resize(empty, out, cv::Size(10, 10));
            else if (i % 3 == 1)
                cv::cvtColor(m, out, 9999);
            else
                cv::adaptiveThreshold(m, out, 255, 0, 0, 3, 1.0);
        } catch (const cv::Exception &e) {
            caught += e.code != 0 && !e.err.empty();
        }
    }
    std::printf("%d of %d caught\n", caught, count);
    cv::resize(m, out, cv::Size(3000, 2000), 0, 0, cv::INTER_CUBIC);
    print("after", out);
}

static int silent(int, const char *, const char *, const char *, int, void *)
{
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    cv::setNumThreads(1);
    if (argc > 2) {
        cv::redirectError(silent);
        errors(999);
        return 0;
    }
    cv::Mat m = drawn();
    files(argv[1]);
    geometry(m);
    filters(m);
    findings(m);
    return 0;
}
